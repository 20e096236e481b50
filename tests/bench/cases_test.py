# SPDX-License-Identifier: Apache-2.0
"""The files of cases are well-formed, and name families that there are."""

import re
import sys
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import cases  # noqa: E402

GOOD = {"title": "a", "family": "bert", "inputs": {"x": [1, 2]}}


class Cases(unittest.TestCase):
    def test_all_can_be_read_and_are_ordered(self):
        found = cases.all_cases()
        self.assertEqual(len(found), len(list(cases.FOLDER.glob("*.toml"))))
        places = [case.place for case in found.values()]
        self.assertEqual(places, sorted(set(places)), "two cases have one place in the table")
        self.assertEqual(len({case.title for case in found.values()}), len(found))

    def test_each_has_a_family_that_is_exported_and_a_bar(self):
        report = "".join(
            (ROOT / f"tools/models/{name}.py").read_text(encoding="utf-8")
            for name in ("model_families", "bench_families", "written_networks")
        )
        families = set(re.findall(r"^def (\w+)\(size: str, attention: str\) -> Case:", report, re.MULTILINE))
        for case in cases.all_cases().values():
            self.assertIn(case.family, families, case.name)
            self.assertGreaterEqual(case.bar.get("ratio", 0), 1, case.name)
            self.assertLessEqual(case.bar.get("share", 0), 1, case.name)

    def test_what_is_wrong_with_a_file_is_reported(self):
        self.assertEqual(cases.problems("c", GOOD), [])
        for change, said in [
            ({"rato": 1}, "no field 'rato'"),
            ({"title": ""}, "'title' is missing"),
            ({"inputs": {}}, "'inputs' is missing"),
            ({"precision": "bf8"}, "not supported yet: precision bf8"),
            ({"inputs": {"x": "1x2"}}, "input 'x' needs a list of sizes"),
            ({"inputs": {"x": [0]}}, "input 'x' needs a list of sizes"),
            ({"bar": {"speed": 2}}, "found 'speed'"),
        ]:
            self.assertIn(said, "\n".join(cases.problems("c", GOOD | change)), change)


class Inputs(unittest.TestCase):
    def test_arrays_hold_what_their_names_say(self):
        shape = [2, 5]
        names = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "pixel_values")
        case = cases.Case("c", "c", "clip", {name: shape for name in names}, lengths=[3, 5], end=4999)
        found = cases.arrays(case)
        self.assertEqual(list(found), list(names))
        self.assertEqual(found["attention_mask"].tolist(), [[1, 1, 1, 0, 0], [1] * 5])
        self.assertEqual(found["input_ids"][0, 2:].tolist(), [4999, 0, 0])
        self.assertEqual(found["input_ids"][1, 4], 4999)
        self.assertTrue((found["input_ids"][1] >= cases.FIRST_ID).all())
        self.assertEqual(found["token_type_ids"].sum(), 0)
        self.assertEqual(found["position_ids"].tolist(), [[0, 1, 2, 3, 4]] * 2)
        self.assertEqual(found["pixel_values"].dtype, np.float32)
        self.assertTrue(all(np.array_equal(a, b) for a, b in zip(found.values(), cases.arrays(case).values())))

    def test_each_case_has_arrays_of_its_shapes(self):
        for case in cases.all_cases().values():
            found = cases.arrays(case)
            self.assertEqual({name: list(each.shape) for name, each in found.items()}, case.inputs, case.name)


if __name__ == "__main__":
    unittest.main()
