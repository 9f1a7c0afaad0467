# SPDX-License-Identifier: Apache-2.0
"""What axe-core, which tools/deps-npm installs, finds wrong with a page that a browser has open.

    with browser() as b:
        b.open(url)
        check(grave(b), [])
"""
import json
import os

from e2e import ROOT, Skip

SCRIPT = os.path.join(ROOT, "build", "npm", "node_modules", "axe-core", "axe.min.js")
RUN = """axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(
    {checked: r.passes.length, found: r.violations.map(v => ({impact: v.impact, id: v.id, help: v.help, where: v.nodes.map(n => n.target.join(' ')).slice(0, 3)}))}))"""


def findings(b):
    """All of them, each with impact, id, help and where."""
    if not os.path.exists(SCRIPT):
        raise Skip("axe-core is not there: make deps-test")
    with open(SCRIPT, encoding="utf-8") as f:
        b.call("Runtime.evaluate", expression=f.read() + "\n;1")
    said = json.loads(b.call("Runtime.evaluate", expression=RUN, awaitPromise=True, returnByValue=True)["result"]["value"])
    if said["checked"] < 5:
        raise AssertionError(f"axe-core looked at nothing: {said}")
    return said["found"]


def grave(b):
    return [f"{f['impact']}: {f['id']}: {f['help']}: {', '.join(f['where'])}" for f in findings(b) if f["impact"] in ("serious", "critical")]
