#!/usr/bin/env python3
"""tools/tidy.py finds each kind of breach, and nothing in a tree that keeps the rules."""

import importlib.util
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/tidy.py"
spec = importlib.util.spec_from_file_location("tidy", TOOL)
tidy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tidy)

GOOD = {
    "cmake/Dependencies.cmake": "set(ALLOWED_base)\nset(ALLOWED_base/loop base)\n",
    "docs/architecture.md": "| `base/` | words | - |\n| `base/loop/` | events | `base/` |\n",
    "src/CMakeLists.txt": "foreach(room base base/loop)\n",
    "src/base/CMakeLists.txt": "plimsoll_library(base SOURCES a.cc)\n",
    "src/base/loop/CMakeLists.txt": "plimsoll_library(base/loop USES base SOURCES loop.cc)\n",
    "src/base/README.md": "Start at a.h.\n",
    "src/base/a.h": "#pragma once\nnamespace x {\nstruct A {};\n}  // namespace x\n",
    "src/base/a.cc": '#include "base/a.h"\n// a throw in a comment, new things, kill(1)\n'
                     'auto s = "throw new kill(1)";\n'
                     'Kill kill(1);\nstruct A { A(const A&) = delete; };\n',
    "src/base/loop/README.md": "Start at loop.cc.\n",
    "src/base/loop/loop.cc": '#include "base/a.h"\nauto t = steady_clock::now();\n',
    "tests/unit/base/a_test.cc": "TEST(A, Is) {}\n",
}


class TidyTest(unittest.TestCase):
    def breaches(self, changes):
        """What is found in the good tree with some files added or replaced."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in (GOOD | changes).items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            tree = tidy.Tree(root)
            return [(b.path, b.line) for rule in tidy.RULES for b in rule(tree)]

    def test_a_good_tree_is_clean(self):
        self.assertEqual(self.breaches({}), [])

    def test_bad_files_are_found(self):
        source, test = "src/base/a.cc", "tests/unit/base/a_test.cc"
        body = "TEST(A, Is) {}\n"
        for name, text, line in [
            (source, "int x = std::stoi(s);\n", 1),
            (source, "\nauto t = std::chrono::steady_clock::now();\n", 2),
            (source, "void f() { ::kill(pid, 9); }\n", 1),
            (source, "int f() { return waitpid(1, &s, 0); }\n", 1),
            (source, "void f() { clone3(x); }\n", 1),
            (source, "sd_event_ref(e);\n", 1),
            (source, "void f() { spdlog::info(x); }\n", 1),
            (source, "auto* p = new Thing;\n", 1),
            (source, "delete p;\n", 1),
            (source, "throw Error{};\n", 1),
            (source, "// TO" "DO: later\n", 1),
            (source, 'auto p = "/ho' 'me/me/x";\n', 1),
            (source, '#include "base/loop/loop.h"\n', 1),
            (source, "//" + "x" * 99 + "\n", 1),
            (source, "\n" * 401, 1),
            (source, "\nint f(int a,\n      int b) {\n" + "  g();\n" * 69 + "}\n", 2),
            ("src/base/a.h", "// late\n#pragma once\n", 1),
            ("src/base/b.h", "#pragma once\nnamespace x {\nnamespace {\nstruct A {};\n"
             "}  // namespace\nstruct A;\nstruct A::B {};\n"
             "class A : public C {\n};\n}  // namespace x\n", 8),
            ("src/base/lost.cc", "int x;\n", 1),
            ("src/base/README.md", "Words.\n", 1),
            ("src/extra/README.md", "Start at nothing.\n", None),
            ("docs/architecture.md", "| `base/` | x | - |\n| `base/loop/` | x | - |\n", 2),
            (test, body + "auto x = [] { usleep(1); };\n", 2),
            (test, "int x;\n", 1),
            ("tests/other/a_test.cc", body, 1),
            ("tests/unit/base/helper.cc", "int x;\n", 1),
            ("tests/fuzz/more/a_fuzz.cc", "int x;\n", 1),
            ("tests/cli/a.sh", "#!/bin/sh\n", 1),
        ]:
            expected = [] if line is None else [(name, line)]
            with self.subTest(name=name, text=text[:40]):
                self.assertEqual(self.breaches({name: text}), expected)

    def test_functions_are_measured(self):
        code = ("namespace n {\nstruct S : B<int> {\n  S() : a_{1}, b_(f([] {\n    return 1;\n"
                "  })) {\n    g();\n  }\n  int a_{0};\n};\n}\n\nint f() {\n  if (x) {\n  }\n}\n")
        self.assertEqual(list(tidy.functions(code)), [(3, 5), (12, 4)])


if __name__ == "__main__":
    unittest.main()
