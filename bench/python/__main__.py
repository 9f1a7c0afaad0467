# SPDX-License-Identifier: Apache-2.0
"""python3 bench/python BUILD [PAGES]: the CPU time of a fetch by the program and by the Python binding, in turns.

Both fetch the same pages of `seine chaos` on loopback; the program writes url and status of each, Python reads them. The ratio
is that of the CPU time of all threads, start of the interpreter included: other work on the machine moves both figures.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release")
PAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
ROUNDS = 5
LOOP = """
import sys, seine
with open(sys.argv[1]) as urls:
    n = sum(r.status == 200 and r.url is not None for r in seine.fetch((line.strip() for line in urls), mine=True))
sys.exit(n != int(sys.argv[2]))
"""


def cpu(command, **env):
    """Seconds of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **env})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    program = os.path.join(BUILD, "seine")
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen([program, "chaos"], stdout=subprocess.PIPE, text=True) as server:
        try:
            base = json.loads(server.stdout.readline())["http"]
            path, out = os.path.join(folder, "urls.txt"), os.path.join(folder, "out.jsonl")
            with open(path, "w", encoding="ascii") as f:
                f.writelines(f"{base}/ok?n={i}\n" for i in range(PAGES))
            rounds = [(cpu([program, "fetch", "--mine", "-i", path, "--fields", "url,status", "-q", "--no-summary", "--overwrite", "-o", out]),
                       cpu([sys.executable, "-c", LOOP, path, str(PAGES)], PYTHONPATH=os.path.join(ROOT, "bindings/python"),
                           SEINE_LIBRARY=os.path.join(BUILD, "libseine.so.0"))) for _ in range(ROUNDS)]
        finally:
            server.terminate()
    one, other = (statistics.median(figures) / PAGES * 1e6 for figures in zip(*rounds))
    print(json.dumps({"bench": "python", "pages": PAGES, "program_us": round(one, 2), "python_us": round(other, 2),
                      "ratio": round(statistics.median(a / b for a, b in rounds), 2)}))


main()
