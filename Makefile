# The verbs of daily work. The build itself is CMakeLists.txt + CMakePresets.json.
P ?= dev
C := find . \( -path ./build -o -path ./.git \) -prune -o -name '*.[ch]' -print
M := $(MAKE) --no-print-directory

all: product
run: product       ; @tools/demo $(ARGS)
test: tree $(if $(filter dev,$(P)),product) ; @tools/run-tests $(P) $(T)
asan tsan clang:   ; @$(M) test P=$@ T="$(T)"
tree: deps         ; @tools/build $(P)
product: deps      ; @tools/build release product && ln -sfn release/seine build/seine
release: deps      ; @tools/build release && ln -sfn release/seine build/seine
install: product   ; @cmake --install build/release $(if $(PREFIX),--prefix $(PREFIX))
bench: release     ; @tools/bench $(B)
bench-net: product ; @python3 bench/net $(B)
bench-crawl: release ; @python3 bench/crawl $(B)
bench-instructions: product ; @python3 bench/instructions $(B)
deps-bench:        ; @tools/deps-bench
fuzz:              ; @$(M) tree P=fuzz && tools/fuzz $(F)
soak:              ; @tools/soak
mutate: deps       ; @for p in asan tsan dev; do tools/build $$p unit-guard unit-engine || exit 1; done; tools/build dev seine-sim integ-fetch seine-cli && tools/mutate $(MUTATE)
coverage:          ; @$(M) tree P=cov && tools/coverage
docs: deps         ; @tools/build $(P) seine-cli && tools/make-umbrella && tools/make-requirements && tools/make-man build/$(P)/seine
fmt:               ; @$(C) | xargs clang-format-14 -i
lint: tree         ; @tools/lint $(P) $(L)
smoke: deps        ; @tools/smoke
check:             ; @$(M) test && $(M) lint && $(M) clang T="-L 'unit|fuzz|integ|sim'" && $(M) asan && $(M) tsan T="-L 'unit|integ|sim'"
deps:              ; @tools/deps
clean:             ; @rm -rf build

.PHONY: all run test asan tsan clang tree product release install bench bench-net bench-crawl bench-instructions deps-bench fuzz soak mutate coverage docs fmt lint smoke check deps clean
