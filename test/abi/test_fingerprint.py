#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What libroce calls its inside: test_fingerprint.py FOLDER, where fingerprint.py lies.

Another name for every other source, name of a source, and DPDK; the same for the same tree anywhere.
"""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, sys.argv.pop(1))
import fingerprint  # pylint: disable=wrong-import-position

FILES = {"pmd_roce/queue/qp.h": "struct a;\n", "pmd_roce/queue/fastpath.c": "int a;\n", "pmd_roce/queue/stats.def": "A\n",
         "lib/roce/user.h": "struct b;\n", "include/roce/roce.h": "struct c;\n"}


class Fingerprint(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        self.root = self.tree("here")
        self.before = fingerprint.fingerprint(self.root, "22.11")

    def tree(self, name):
        for path, text in FILES.items():
            file = self.work / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return self.work / name

    def test_the_same_tree_elsewhere_has_the_same(self):
        self.assertEqual(fingerprint.fingerprint(self.tree("there"), "22.11"), self.before)
        self.assertRegex(self.before, "^[0-9a-f]{8}$")

    def test_a_change_of_any_source_is_seen(self):
        for path in FILES:
            root = self.tree(path.replace("/", "-"))
            (root / path).write_text("another\n", encoding="utf-8")
            self.assertNotEqual(fingerprint.fingerprint(root, "22.11"), self.before, path)

    def test_a_new_source_and_a_new_name_are_seen(self):
        (self.root / "pmd_roce/queue/qp.h").rename(self.root / "pmd_roce/queue/qq.h")
        renamed = fingerprint.fingerprint(self.root, "22.11")
        self.assertNotEqual(renamed, self.before)
        (self.root / "pmd_roce/queue/new.h").touch()
        self.assertNotEqual(fingerprint.fingerprint(self.root, "22.11"), renamed)

    def test_another_dpdk_is_seen(self):
        self.assertNotEqual(fingerprint.fingerprint(self.root, "24.11"), self.before)

    def test_the_map_has_the_name_and_the_build_knows_what_it_hangs_on(self):
        template, script, depfile = (self.work / name for name in ("map.in", "map", "map.d"))
        template.write_text("@INTERNAL@ {\n};\n", encoding="utf-8")
        fingerprint.main(str(self.root), "22.11", template, script, depfile)
        self.assertEqual(script.read_text(encoding="utf-8"), f"ROCE_INTERNAL_{self.before} {{\n}};\n")
        target, paths = depfile.read_text(encoding="utf-8").split(": ")
        self.assertEqual(target, str(script))
        wanted = {str(self.root / path) for path in FILES} | {str((self.root / path).parent) for path in FILES}
        self.assertEqual(set(paths.split()), wanted)
        written = script.stat().st_mtime_ns
        fingerprint.main(str(self.root), "22.11", template, script, depfile)
        self.assertEqual(script.stat().st_mtime_ns, written)


if __name__ == "__main__":
    unittest.main()
