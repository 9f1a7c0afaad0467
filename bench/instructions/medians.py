# SPDX-License-Identifier: Apache-2.0
"""The figures of a measurement: the median of the rounds, their spread, and the ratio of two programs."""
from measure import median

BAR = 1.02  # a program may execute two per cent more than the one it is held against


def spread(values):
    """The distance from the least to the largest, in per cent of the median."""
    return round((max(values) - min(values)) / median(values) * 100, 2)


def rounds(lines, scene, role):
    return [line["each"] for line in lines if line["type"] == "run" and (line["scene"], line["role"]) == (scene, role) and "failed" not in line]


def of(lines, scenes):
    """One figure for each scene and program, then one ratio for each scene that both programs have. What failed has no figure."""
    for scene in scenes:
        found = {role: rounds(lines, scene.name, role) for role in ("seine", "against")}
        for role, values in found.items():
            if values:
                yield {"name": f"instructions per {scene.unit}, {scene.name}", "role": role, "value": median(values), "spread_percent": spread(values),
                       "rounds": len(values)}
        if found["seine"] and found["against"]:
            ratio = median(found["seine"]) / median(found["against"])
            yield {"name": f"instructions per {scene.unit}, {scene.name}", "role": "ratio", "value": round(ratio, 4), "bar": BAR, "ok": ratio <= BAR}
