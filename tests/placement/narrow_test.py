# SPDX-License-Identifier: Apache-2.0
"""Element types that a backend lacks: Casts, wider types, and --narrow."""

import json
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import ROOT, np, o, report, tenon  # noqa: E402

TWO = ["--backend", "cpu,reference", "--opt", "0"]
PEERS = next(ROOT.glob(".venv-peers/lib/*/site-packages"), Path())
RUNTIME = next(PEERS.glob("onnxruntime/capi/libonnxruntime.so*"), None)
ORT = ["--backend", "onnxruntime,cpu", "--backend-lib", f"onnxruntime={RUNTIME}", "--opt", "0"]
F64, BF16 = 11, 16


def model(op: str, dtype: int) -> bytes:
    nodes = [o.node(op, ["x"], ["a"], name="first"), o.node(op, ["a"], ["y"], name="second")]
    return o.model(o.graph(nodes, [o.value_info("x", [2, 3], dtype)], [o.value_info("y", [2, 3], dtype)]))


class Narrow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model, cls.short = cls.folder / "f64.onnx", cls.folder / "bf16.onnx"
        cls.model.write_bytes(model("Atan", F64))
        cls.short.write_bytes(model("Sin", BF16))

    def refused(self, *options, verb="partition"):
        done = tenon(verb, self.model, "--json", *options, *(["-o", self.folder / "no.tenon"] if verb == "build" else []))
        self.assertEqual(done.returncode, 2, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_what_is_no_narrowing_is_one_error(self):
        for types, what in (
            ("f64=f31", "there is no such element type"),
            ("f65=f32", "there is no such element type"),
            ("f64=", "there is no such element type"),
            ("f64", "it names a type and its replacement"),
            ("f16=f32", "this narrows nothing"),
            ("f32=f32", "this narrows nothing"),
            ("i64=f32", "neither type contains the other"),
            ("i64=u32", "neither type contains the other"),
            ("bool=i8", "neither type contains the other"),
            ("f64=f32,f64=f16", "f64 is to become two types"),
        ):
            self.assertEqual(self.refused(*TWO, "--narrow", types)["what"], what, types)
        for verb in ("build", "run", "bench", "compare"):
            self.assertEqual(self.refused(*TWO, "--narrow", "f64=f64", verb=verb)["what"], "this narrows nothing")
        for alone in (["--backend", "cpu"], []):
            self.assertEqual(self.refused(*alone, "--narrow", "f64=f32")["what"], "no backend is accelerated that might lack a type")
        self.assertFalse((self.folder / "no.tenon").exists())

    def test_where_nothing_is_lacked_nothing_changes(self):
        first, second = self.folder / "a.tenon", self.folder / "b.tenon"
        for engine, options in ((first, []), (second, ["--narrow", "f64=f32,i64=i32"])):
            self.assertEqual(tenon("build", self.model, *TWO, *options, "-o", engine).returncode, 0)
        self.assertEqual(self.sections(first), self.sections(second))

    def sections(self, engine: Path) -> dict:
        """All bytes of an engine by the names of its sections, but for the manifest, which lists the options."""
        whole = engine.read_bytes()
        listed = [s for s in report("inspect", engine)["sections"] if s["name"] != "manifest"]
        return {s["name"]: whole[s["offset"] : s["offset"] + s["bytes"]] for s in listed}

    def shared(self, path: Path, *options, dry=True) -> list[tuple]:
        """Node, backend, the last reason's text; the same whether it is built or not."""
        data = report("partition", path, *ORT, *options, *(["--dry-run"] if dry else []))
        return [(n["name"], n["backend"], n["reasons"][-1]["text"]) for n in data["nodes"]]

    @unittest.skipUnless(RUNTIME, "needs onnxruntime in .venv-peers")
    def test_wider_types_need_no_permission(self):
        rows = self.shared(self.short)
        self.assertEqual([r[:2] for r in rows], [(n, "onnxruntime") for n in ("x.f32", "first", "second", "y.bf16")])
        self.assertEqual(rows[0][2], "brings bf16 to f32, which onnxruntime has")
        self.assertEqual(rows[1][2], "onnxruntime runs it with f32 in place of bf16")
        self.assertEqual(rows, self.shared(self.short, dry=False))
        data = report("partition", self.short, *ORT, "--dry-run")
        self.assertEqual([n.get("sources") for n in data["nodes"]], [["first"], None, None, ["second"]])
        self.assertEqual((len(data["segments"]), data["accelerated_share"]), (1, 1.0))
        self.assertEqual([r["code"] for r in data["nodes"][1]["reasons"]], ["unsupported", "chosen"])

    @unittest.skipUnless(RUNTIME, "needs onnxruntime in .venv-peers")
    def test_narrower_ones_do(self):
        self.assertEqual([r[1] for r in self.shared(self.model)], ["cpu", "cpu"])
        rows = self.shared(self.model, "--narrow", "f64=f32")
        self.assertEqual([r[1] for r in rows], ["onnxruntime"] * 4)
        self.assertIn("as narrow allows", rows[1][2])
        given, given_back = self.folder / "in.npz", self.folder / "out.npz"
        x = np.linspace(-2, 2, 6).reshape(2, 3)
        np.savez(given, x=x)
        for options, bound in (([], 1e-12), (["--narrow", "f64=f32"], 1e-5)):
            done = tenon("run", self.model, *ORT, *options, "--input", given, "--output", given_back)
            self.assertEqual(done.returncode, 0, done.stderr)
            y = np.load(given_back)["y"]
            self.assertEqual(y.dtype, np.float64)
            np.testing.assert_allclose(y, np.arctan(np.arctan(x)), rtol=bound)
        self.assertGreater(np.abs(y - np.arctan(np.arctan(x))).max(), 0)

    @unittest.skipUnless(RUNTIME, "needs onnxruntime in .venv-peers")
    def test_narrower_types_and_measured_costs(self):
        """The Casts and the nodes in narrower types are timed as well; whoever is faster, the results are those of its types."""
        given, given_back = self.folder / "in.npz", self.folder / "out.npz"
        x = np.linspace(-2, 2, 6).reshape(2, 3)
        np.savez(given, x=x)
        with unittest.mock.patch.dict("os.environ", {"XDG_CACHE_HOME": str(self.folder)}):
            options = ["--narrow", "f64=f32", "--assign", "cost", "--measure"]
            rows = self.shared(self.model, *options)
            self.assertEqual(rows, self.shared(self.model, *options, dry=False))
            lines = (self.folder / "tenon/times").read_text().splitlines()
            self.assertGreaterEqual(len(lines), 4)  # both backends with all that they can run, nodes
            done = tenon("run", self.model, *ORT, *options, "--input", given, "--output", given_back)
            self.assertEqual(done.returncode, 0, done.stderr)
        nodes = {name: backend for name, backend, _ in rows}
        self.assertLessEqual({nodes["first"], nodes["second"]}, {"onnxruntime", "cpu"})
        y = np.load(given_back)["y"]
        self.assertEqual(y.dtype, np.float64)
        np.testing.assert_allclose(y, np.arctan(np.arctan(x)), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
