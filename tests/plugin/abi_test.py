# SPDX-License-Identifier: Apache-2.0
"""Libraries stay loadable: version 1 of the interface, written down for good in fixtures/abi, beside today's header and host; those of
makers that knew less, or know more; and one that needs more than there is."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT, np, o  # noqa: E402

FIXTURES = Path(__file__).resolve().parent / "fixtures" / "abi"
X = np.array([[1, -2, 3], [-4, 5, 0]], np.float32)
FLAGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"]


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class Abi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        np.save(cls.folder / "x.npy", X)

    def library(self, *options: str) -> Path:
        out = self.folder / f"abi{''.join(options)}.so"
        subprocess.run(["cc", *FLAGS, "-shared", "-fPIC", *options, FIXTURES / "library.c", "-o", out], check=True)
        return out

    def model(self, *attributes: bytes) -> Path:
        path = self.folder / "model.onnx"
        node = o.node("Scaled", ["x"], ["y", "positive"], *attributes, domain="abi", name="it")
        graph = o.graph([node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3]), o.value_info("positive", [None])])
        path.write_bytes(o.model(graph) + o.message(8, o.text(1, "abi"), o.number(2, 1)))
        return path

    def error(self, *arguments: object) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_the_header_has_version_1_where_it_was(self):
        out = self.folder / "same"
        done = subprocess.run(
            ["cc", *FLAGS, f"-I{ROOT / 'include'}", FIXTURES / "same.c", "-o", out], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_maker_s_library_runs(self):
        for options in ((), ("-DSHORTER",), ("-DLONGER",)):
            with self.subTest(options=options):
                library, engine, out = self.library(*options), self.folder / "abi.tenon", self.folder / "out.npz"
                done = small_models.tenon("build", self.model(), "--plugin", library, "-o", engine)
                self.assertEqual(done.returncode, 0, done.stderr)
                run = ("run", engine, "--plugin", library, "--input", f"x={self.folder / 'x.npy'}", "--output", out)
                self.assertEqual((done := small_models.tenon(*run)).returncode, 0, done.stderr)
                with np.load(out) as results:
                    np.testing.assert_array_equal(results["y"], 2 * X)
                    np.testing.assert_array_equal(results["positive"], [2, 6, 10])
                tested = small_models.tenon("plugin", "test", library)
                self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)
                wrong = self.model(o.attribute_int("scal", 1))
                self.assertIn("did you mean 'scale'?", self.error("build", wrong, "--plugin", library, "-o", engine)["found"])

    def test_a_library_that_needs_more_is_refused_by_name(self):
        error = self.error("build", self.model(), "--plugin", self.library("-DNEEDS=2"), "-o", self.folder / "none.tenon")
        self.assertEqual(error["name"], "wrong_target")
        self.assertIn("abi-DNEEDS=2.so", error["place"])
        self.assertEqual(error["expected"], "one that needs at most version 1 of the plugin interface")
        self.assertEqual(error["found"], "one that needs version 2")


if __name__ == "__main__":
    unittest.main()
