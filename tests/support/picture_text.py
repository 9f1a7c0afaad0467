# SPDX-License-Identifier: Apache-2.0
"""The text of a picture that tools/make-picture or tools/make-screens has drawn, to compare it with what the program prints today."""
import re
import xml.etree.ElementTree as xml


def lines(path):
    """The text of a picture, a line per height, in the order of reading."""
    runs = {}
    for text in xml.parse(path).iter("{http://www.w3.org/2000/svg}text"):
        runs.setdefault(float(text.get("y")), []).append((float(text.get("x")), text.text))
    return ["  ".join(words for _, words in sorted(runs[y])) for y in sorted(runs)]


def form(path):
    """The lines without their figures: what stays the same from run to run."""
    found = []
    for line in lines(path):
        line = re.sub(r"\b(ns|us|ms|s)\b", "s", re.sub(r"~?[0-9][0-9.,:]*", "0", line)).replace("0/m", "0/s")
        line = re.sub(r"(pattern /\S+, ).*", r"\1", line)  # whichever verdict came first
        line = re.sub(r"limited by .*", "limited by", line)  # whoever it is
        line = re.sub(r"linked from .*", "linked from", line)  # a page or a sitemap, whichever came first
        line = re.sub(r"^(0 %  0/0  0/s).*", r"\1", line)  # whatever is known of the end
        if not re.match(r"0( s)?  0|URLs were|.*brought nothing new$", line):  # the hosts, the histogram, the shares, the rest of a verdict
            found.append(line)
    return found
