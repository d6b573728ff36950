#!/usr/bin/env python3
"""tools/page_contrast.py reckons contrast as the guidelines do, and finds colours that lack it."""

import importlib.util
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/page_contrast.py"
spec = importlib.util.spec_from_file_location("page_contrast", TOOL)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

LIGHT = ("  --paper: #fff; --ground: #fff; --ink: #000; --dim: #555; --bad: #a00; --good: #060; "
         "--line: #008; --accent: #00a;\n")
DARK = ("  --paper: #000; --ground: #000; --ink: #fff; --dim: #aaa; --bad: #f88; --good: #8f8; "
        "--line: #aaf; --accent: #aaf;\n")
STYLE = f":root {{\n{LIGHT}}}\nx {{\n{DARK}}}\ny {{\n{DARK}}}\n"


class ContrastTest(unittest.TestCase):
    def test_is_that_of_the_guidelines(self):
        self.assertAlmostEqual(tool.contrast([0, 0, 0], [255, 255, 255]), 21)
        self.assertAlmostEqual(tool.contrast(tool.rgb("#777"), tool.rgb("#fff")), 4.48, places=2)

    def test_finds_what_can_not_be_read(self):
        self.assertEqual(list(tool.faults(STYLE, ["#c06000"])), [])
        pale = STYLE.replace("--dim: #555", "--dim: #999")
        self.assertIn("light: dim on paper", list(tool.faults(pale, []))[0])

    def test_finds_a_colour_of_a_class_that_is_too_dark_or_too_pale(self):
        found = list(tool.faults(STYLE, ["#eee", "#222"]))
        self.assertEqual([fault.split(" has ")[0] for fault in found],
                         ["light: #eee on paper", "dark: #222 on paper"])


if __name__ == "__main__":
    unittest.main()
