# SPDX-License-Identifier: Apache-2.0
"""tenon/plugin.hpp and tenon/trt.hpp: plugins in C++, built by the system's own compiler on the public headers alone, tried by a host that
does the least and by Tenon."""

import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT, o  # noqa: E402

FIXTURES = Path(__file__).resolve().parent / "fixtures"
LIBRARIES = ("cpp_ops", "trt_gemm_v2", "trt_swish_v3", "trt_kinds")


@unittest.skipUnless(shutil.which("c++"), "needs a C++ compiler")
class Headers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.built = {name: cls.compiled(name, "-shared", "-fPIC") for name in LIBRARIES}

    @classmethod
    def compiled(cls, name: str, *options: str) -> Path:
        out = cls.folder / name
        flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
        subprocess.run(["c++", *flags, *options, FIXTURES / f"{name}.cpp", "-o", out, "-ldl"], check=True)
        return out

    def holds(self, *command: object) -> None:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_behind_a_host_that_does_the_least(self):
        self.holds(self.compiled("check"), *self.built.values())

    def test_the_registry_as_an_application_uses_it(self):
        self.holds(self.compiled("registry_check"), self.built["trt_kinds"])

    def verdict(self, name: str, node: bytes, inputs: list[bytes], outputs: list[bytes], *options: object) -> None:
        path = self.folder / f"{name}.onnx"
        domains = b"".join(o.message(8, o.text(1, d), o.number(2, 1)) for d in ("fixture", "kinds", "tensorrt_llm"))
        path.write_bytes(o.model(o.graph([node], inputs, outputs)) + domains)
        done = small_models.tenon("compare", path, *options, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        engine = path.with_suffix(".tenon")
        for command in (("build", path, "-o", engine), ("run", engine)):
            done = small_models.tenon(*command, *[w for w in options if command[0] == "build" or w != "--shape" and "=" not in str(w)])
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_plugin_of_the_second_generation(self):
        sizes = o.attribute_int("transa", 1), o.attribute_int("transb", 0), o.attribute_int("type_id", 0)
        node = o.node("Gemm", ["a", "b"], ["y"], *sizes, domain="tensorrt_llm", name="gemm")
        inputs = [o.value_info("a", [4, 3]), o.value_info("b", [4, 5])]
        self.verdict("gemm", node, inputs, [o.value_info("y", [3, 5])], "--plugin", self.built["trt_gemm_v2"])

    def test_plugins_of_the_third_generation(self):
        beta = o.message(5, o.text(1, "beta"), o.varint(2 << 3 | 5) + struct.pack("<f", 1.5), o.number(20, 1))
        node = o.node("Swish", ["x"], ["y"], beta, domain="fixture", name="swish")
        ends = [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])]
        self.verdict("swish", node, *ends, "--plugin", self.built["trt_swish_v3"])
        node = o.node("NonZeroValues", ["x"], ["y", "count"], domain="fixture", name="values")
        outputs = [o.value_info("y", [None]), o.value_info("count", [], 7)]
        self.verdict("values", node, [o.value_info("x", [2, 3])], outputs, "--plugin", self.built["trt_swish_v3"])


if __name__ == "__main__":
    unittest.main()
