# SPDX-License-Identifier: Apache-2.0
"""What the parts of the harness share: where things are, building the C helpers, running one program and taking its cost."""
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "bench" / "peers"
BUILT = ROOT / "build" / "peers"
SEINE = ROOT / "build" / "seine"
PAGE_BYTES = 2048
PACKED_PAGES = 10  # a packed page unpacks to so many
PATIENCE = 120


def build():
    """Compiles bench/peers/*.c and the Go peer where they are older than their source. Nothing here is part of the product."""
    BUILT.mkdir(parents=True, exist_ok=True)
    for name in ("run", "delay", "site"):
        source, program = PEERS / f"{name}.c", BUILT / name
        if stale(program, source):
            compile_to(program, ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", source])


def build_go():
    source, program = PEERS / "gohttp.go", BUILT / "gohttp"
    if stale(program, source):
        env = dict(os.environ, GO111MODULE="off", GOFLAGS="-trimpath", GOCACHE=str(BUILT / "go"))
        compile_to(program, ["go", "build", source], env)


CRATES = "/usr/share/cargo/registry"  # where Debian's librust-*-dev put them


def build_rust():
    """Builds the Rust peer from Debian's crates, without a network; why that cannot be, or ""."""
    source, folder = PEERS / "reqwest", BUILT / "reqwest"
    program = folder / "release" / "reqwest"
    if not stale(program, source / "main.rs") and not stale(program, source / "Cargo.toml"):
        return ""
    if not any(pathlib.Path(CRATES).glob("reqwest-*")):
        return "librust-reqwest-dev is not installed"
    home = BUILT / "cargo"
    (folder / "work").mkdir(parents=True, exist_ok=True)
    home.mkdir(exist_ok=True)
    for name in ("main.rs", "Cargo.toml"):  # cargo writes a lock file beside them
        shutil.copy(source / name, folder / "work" / name)
    (folder / "work" / "Cargo.lock").unlink(missing_ok=True)
    (home / "config.toml").write_text(f'[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "{CRATES}"\n', encoding="ascii")
    env = dict(os.environ, CARGO_HOME=str(home), CARGO_TARGET_DIR=str(folder))
    done = subprocess.run(["cargo", "build", "--release", "--offline", "--quiet"], cwd=folder / "work", env=env, capture_output=True, text=True, errors="replace")
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else f"cannot be built: {said[0][:100] if said else 'cargo failed'}"


def rust_version(crate):
    found = sorted(path.name.removeprefix(f"{crate}-") for path in pathlib.Path(CRATES).glob(f"{crate}-[0-9]*"))
    return found[-1] if found else "?"


def compile_to(program, command, env=None):
    """The compiler writes beside the program and the file is renamed: another harness that runs the program now, or compiles it too, is not disturbed."""
    fresh = program.with_name(f"{program.name}.{os.getpid()}")
    subprocess.run([*command[:-1], "-o", fresh, command[-1]], check=True, env=env)
    os.replace(fresh, program)


def stale(program, source):
    return not program.exists() or program.stat().st_mtime < source.stat().st_mtime


@contextlib.contextmanager
def recorded(output, directory):
    """Builds the helpers; then (folder, lines, emit): a folder for the run in the directory, and a function that keeps each
    line as soon as it is known in the list, in the file `output` and on standard output."""
    lines = []
    output.parent.mkdir(exist_ok=True)
    build()
    with tempfile.TemporaryDirectory(dir=directory) as folder, open(output, "w", encoding="utf-8") as kept:
        def emit(line):
            lines.append(line)
            for f in (kept, sys.stdout):
                f.write(json.dumps(line, ensure_ascii=False) + "\n")
                f.flush()
        yield pathlib.Path(folder), lines, emit


class Cost:
    """What one run cost: seconds by the clock, CPU seconds, peak MB, its exit code and what it printed."""

    def __init__(self, report, out="", err=""):
        self.code, self.late = report["code"], report["late"]
        self.seconds, self.cpu, self.peak_mb = report["seconds"], report["cpu"], report["peak_kb"] / 1024
        self.out, self.err = out, err


def runner(folder, words, patience=PATIENCE):
    """The command line that runs words under bench/peers/run.c, and where it will report."""
    report = pathlib.Path(folder) / "run.json"
    report.unlink(missing_ok=True)
    return [str(BUILT / "run"), str(report), str(patience), *map(str, words)], report


def environment(folder, extra=None):
    """No setting of the user reaches a program that is measured."""
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(folder), "LC_ALL": "C.UTF-8", **(extra or {})}


def run(words, folder, env=None, cpu=None, patience=PATIENCE):
    command, report = runner(folder, words, patience)
    done = subprocess.run(command, cwd=folder, env=environment(folder, env), stdin=subprocess.DEVNULL, capture_output=True,
                          preexec_fn=pin(cpu), text=True, errors="replace")
    return Cost(json.loads(report.read_text()), done.stdout, done.stderr)


def pin(cpu):
    return None if cpu is None else lambda: os.sched_setaffinity(0, {cpu})


def median(values):
    values = [v for v in values if v is not None]
    return statistics.median(values) if values else None


def why(cost):
    """One line that says how a run failed."""
    if cost.late:
        return f"took longer than {PATIENCE} s"
    said = (cost.err.strip() or cost.out.strip()).splitlines()
    return f"exit code {cost.code}" + (f": {said[-1][:100]}" if said else "")
