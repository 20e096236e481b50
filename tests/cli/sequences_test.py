# SPDX-License-Identifier: Apache-2.0
"""Models whose inputs and results are sequences, maps and texts, through the verbs that run them."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import o, ops_of, report, tenon


def inserting() -> bytes:
    """y = s with x + x after it."""
    sequence = o.sequence_of(o.tensor_type([None]))
    nodes = [o.node("Add", ["x", "x"], ["d"]), o.node("SequenceInsert", ["s", "d"], ["y"]), o.node("SequenceLength", ["y"], ["n"])]
    outputs = [o.typed("y", sequence), o.value_info("n", [], 7)]
    return o.model(o.graph(nodes, [o.typed("s", sequence), o.value_info("x", [3])], outputs))


class Sequences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "m.onnx"
        cls.model.write_bytes(inserting())

    def test_run_draws_two_elements_and_prints_types(self):
        for check in ([], ["--check-memory"]):
            y, n = report("run", self.model, *check)["outputs"]
            self.assertEqual((y["name"], y["kind"], len(y["elements"])), ("y", "sequence", 3))
            values = y["elements"][2].pop("values")
            self.assertEqual((y["elements"][2], len(values)), ({"dtype": "f32", "shape": [3]}, 3))
            self.assertEqual(n["shape"], [])

    def test_archives_hold_one_array_an_element(self):
        given, made = self.folder / "in.npz", self.folder / "out.npz"
        x = np.arange(3, dtype=np.float32)
        np.savez(given, **{"s/0": x[:1], "s/1": x[:2], "x": x})
        done = tenon("run", self.model, "--input", given, "--output", made)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(made) as results:
            self.assertEqual(sorted(results), ["n", "y/0", "y/1", "y/2"])
            np.testing.assert_array_equal(results["y/1"], x[:2])
            np.testing.assert_array_equal(results["y/2"], x + x)
        again = self.folder / "again.npz"
        np.savez(again, **{"s": x})
        refused = tenon("run", self.model, "--input", again)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no such input", refused.stderr)

    def test_a_map_is_its_keys_and_its_values(self):
        kind = o.sequence_of(o.map_of(7, o.tensor_type(None)))
        model, given, made = (self.folder / name for name in ("maps.onnx", "maps_in.npz", "maps_out.npz"))
        model.write_bytes(o.model(o.graph([o.node("Identity", ["m"], ["y"])], [o.typed("m", kind)], [o.typed("y", kind)])))
        self.assertEqual(report("run", model)["outputs"][0]["elements"][0]["kind"], "map")
        keys, values = np.array([7, 9]), np.array([0.5, 2], np.float32)
        np.savez(given, **{"m/0/keys": keys, "m/0/values": values, "m/1/keys": keys[:0], "m/1/values": values[:0]})
        done = tenon("run", model, "--input", given, "--output", made)
        self.assertIn("7: 0.5, 9: 2", done.stdout)
        with np.load(made) as results:
            self.assertEqual(sorted(results), ["y/0/keys", "y/0/values", "y/1/keys", "y/1/values"])
            np.testing.assert_array_equal(results["y/0/values"], values)
        for wrong, words in (
            ({"m/0/keys": keys}, "are missing"),
            ({"m/0/keys": keys, "m/0/values": values[:1]}, "do not fit"),
            ({"m": values}, "no such"),
        ):
            np.savez(given, **wrong)
            refused = tenon("run", model, "--input", given)
            self.assertEqual(refused.returncode, 1)
            self.assertIn(words, refused.stderr)

    def test_texts_are_drawn(self):
        model = self.folder / "texts.onnx"
        model.write_bytes(o.model(o.graph([o.node("Identity", ["x"], ["y"])], [o.value_info("x", [2], 8)], [o.value_info("y", [2], 8)])))
        self.assertEqual(report("run", model)["outputs"][0], {"name": "y", "dtype": "string", "shape": [2], "values": ["0", "0"]})
        self.assertEqual(report("compare", model)["verdict"], "good")

    def test_the_other_verbs_take_them(self):
        self.assertEqual(report("compare", self.model)["verdict"], "good")
        engine = self.folder / "m.tenon"
        self.assertEqual(tenon("build", self.model, "-o", engine).returncode, 0)
        self.assertEqual(report("inspect", engine)["inputs"][0]["type"], "seq(f32[?])")
        self.assertEqual(tenon("run", engine).returncode, 0)
        self.assertEqual(tenon("bench", engine, "--runs", 1, "--seconds", "0.1").returncode, 0)
        exported = self.folder / "exported.onnx"
        self.assertEqual(tenon("export", self.model, "-o", exported).returncode, 0)
        self.assertEqual(ops_of(exported), ops_of(self.model))
        self.assertEqual(report("compare", exported)["verdict"], "good")


if __name__ == "__main__":
    unittest.main()
