#!/usr/bin/env python3
"""Tells whether the colours of the page have enough contrast, in light and in dark.

By the Web Content Accessibility Guidelines 2: 4.5:1 for text, 3:1 for marks. Status 1 if not.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT, MARK = 4.5, 3.0
# Colours of text or marks, each with the grounds that it stands on. A ground "a+22b" is a with 22 %
# of b mixed in, as color-mix() of the style does it.
TEXTS = {"ink": ["paper", "ground", "paper+22bad", "paper+22good", "paper+16accent"],
         "dim": ["paper", "ground"],
         "bad": ["paper", "ground", "paper+16accent"], "good": ["paper"],
         "accent": ["paper", "ground"], "paper": ["ink"]}
MARKS = {"line": ["paper"], "bad": ["paper"], "good": ["paper"], "accent": ["paper"],
         "dim": ["paper", "ground"]}


def rgb(colour):
    digits = colour.lstrip("#")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return [int(digits[i:i + 2], 16) for i in (0, 2, 4)]


def luminance(channels):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
              for c in (channel / 255 for channel in channels)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def schemes(style):
    """The colours of the style sheet, by name, of its first block and of that for dark."""
    blocks = re.findall(r"--paper: .*", style)
    found = [dict(re.findall(r"--(\w+): (#\w+);", block)) for block in blocks]
    if len(found) != 3 or found[1] != found[2]:
        sys.exit("page/src/style.css: found other than colours of light and twice those of dark")
    return {"light": found[0], "dark": found[1]}


def ground_of(name, colours):
    mixed = re.fullmatch(r"(\w+)\+(\d+)([a-z]+)", name)
    if not mixed:
        return rgb(colours[name])
    share = int(mixed[2]) / 100
    return [a * (1 - share) + b * share
            for a, b in zip(rgb(colours[mixed[1]]), rgb(colours[mixed[3]]))]


def faults(style, classes):
    for scheme, colours in schemes(style).items():
        pairs = [(name, rgb(colours[name]), ground, least) for table, least in
                 ((TEXTS, TEXT), (MARKS, MARK)) for name, grounds in table.items()
                 for ground in grounds]
        pairs += [(colour, rgb(colour), "paper", MARK) for colour in classes]
        for name, colour, ground, least in pairs:
            found = contrast(colour, ground_of(ground, colours))
            if found < least:
                yield f"{scheme}: {name} on {ground} has {found:.2f}:1, {least}:1 at least"


def main():
    style = (ROOT / "page/src/style.css").read_text(encoding="utf-8")
    classes = re.findall(r'"(#\w{6})"', (ROOT / "src/page/palette.h").read_text(encoding="utf-8"))
    if len(classes) < 2:
        sys.exit("src/page/palette.h: found no colours")
    found = list(faults(style, classes))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
