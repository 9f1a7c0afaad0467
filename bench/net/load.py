# SPDX-License-Identifier: Apache-2.0
"""What else the machine does while a program is measured: CPU time of all processes, less that of client and server."""
import os

TICKS = os.sysconf("SC_CLK_TCK")
QUIET = 0.1  # CPUs that others may take before a run counts as disturbed
AGAIN = 2  # times that a disturbed run is repeated
PATIENCE = 20  # repetitions in all: a machine that is never quiet is said to be so, and measured all the same


def busy(stat="/proc/stat"):
    """CPU seconds since the machine started, of users and the kernel, and those that a hypervisor kept. Interrupts are left out: packets of
    the measurement itself are among them."""
    with open(stat, encoding="ascii") as f:
        fields = [int(n) for n in f.readline().split()[1:]]
    return (fields[0] + fields[1] + fields[2] + (fields[7] if len(fields) > 7 else 0)) / TICKS


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(n) for n in f.read().split()]
    except OSError:
        return []


def spent(pid):
    """CPU seconds of a process and of its children that are alive."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS + sum(spent(child) for child in children(pid))


class Watch:
    """Foreign load during a run: `Watch(server's pid)`, then `foreign(cost)`, in CPUs."""

    def __init__(self, pid):
        self.pid, self.busy, self.server = pid, busy(), spent(pid)

    def foreign(self, cost):
        others = busy() - self.busy - cost.cpu - (spent(self.pid) - self.server)
        return round(max(0.0, others) / max(cost.seconds, 0.05), 3)


def repeated(once, settings, emit, who):
    """Runs until nobody disturbs, AGAIN times at most; the last row, which says how often it was repeated."""
    for n in range(AGAIN + 1):
        row = once()
        if row.get("foreign", 0) <= QUIET or n == AGAIN or settings.repeats >= PATIENCE:
            return {**row, "repeats": n}
        settings.repeats += 1
        emit({"type": "disturbed", **who, "foreign": row["foreign"]})
    return row
