# The verbs of daily work. The build itself is CMakeLists.txt + CMakePresets.json.
P ?= dev
C := find . \( -path ./build -o -path ./.git \) -prune -o -name '*.[ch]' -print
M := $(MAKE) --no-print-directory

all: product
run: product       ; @tools/demo $(ARGS)
test: tree         ; @tools/run-tests $(P) $(T)
asan tsan:         ; @$(M) test P=$@ T="$(T)"
clang: deps-dev    ; @$(M) test P=$@ T="$(T)"
tree: deps-test    ; @tools/build $(P)
product: deps      ; @tools/build release product && ln -sfn release/seine build/seine
lto: deps          ; @tools/build lto product && ln -sfn lto/seine build/seine
release: deps      ; @tools/build release && ln -sfn release/seine build/seine
install: lto       ; @tools/install $(PREFIX)
uninstall:         ; @tools/install --undo
deb: deps deps-deb  ; @tools/make-deb
try-deb: deb       ; @tools/try-packages $(TRY)
static: deps       ; @tools/build static seine-cli && strip -o build/seine-static build/static/seine && echo build/seine-static
bench: release     ; @tools/bench $(B)
bench-net: lto     ; @python3 bench/net $(B)
bench-table: lto   ; @python3 bench/net --table $(B)
bench-crawl: release ; @python3 bench/crawl $(B)
bench-tasks: lto   ; @bench/tasks build/lto $(B)
bench-limit: lto   ; @bench/limit build/lto $(B)
bench-gate: release ; @bench/gate build/release $(B)
bench-instructions: product lto ; @python3 bench/instructions $(B)
deps-bench:        ; @tools/deps-bench
fuzz: deps-dev     ; @$(M) tree P=fuzz && tools/fuzz $(F)
soak:              ; @tools/soak
mutate: deps-test  ; @for p in asan tsan dev; do tools/build $$p unit-guard unit-engine || exit 1; done; tools/build dev seine-sim seine-sim-fleet integ-fetch seine-cli && tools/mutate $(MUTATE)
coverage: deps-dev ; @$(M) tree P=cov && tools/coverage
docs: deps         ; @tools/build $(P) seine-cli && tools/make-umbrella && tools/make-requirements
fmt: deps-test     ; @$(C) | xargs clang-format-14 -i
lint: deps-dev tree ; @tools/lint $(P) $(L)
smoke: deps-test   ; @tools/smoke $(S)
check:             ; @$(M) test && $(M) lint && $(M) clang T="-L 'unit|fuzz|integ|sim'" && $(M) asan && $(M) tsan T="-L 'unit|integ|sim'"
deps:              ; @tools/deps run
deps-test:         ; @tools/deps run test && tools/deps-npm
deps-dev:          ; @tools/deps run test dev && tools/deps-npm
deps-deb:          ; @tools/deps deb
clean:             ; @rm -rf build

.PHONY: all run test asan tsan clang tree product lto release install uninstall deb try-deb static bench bench-net bench-table bench-crawl bench-tasks bench-limit bench-gate bench-instructions deps-bench fuzz soak mutate coverage docs fmt lint smoke check deps deps-test deps-dev deps-deb clean
