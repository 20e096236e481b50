# SPDX-License-Identifier: Apache-2.0
"""`tenon plugin list`, `show` and `test`: the kit finds each planted fault by its own check, and nothing in sound plugins."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT  # noqa: E402

FIXTURES = Path(__file__).resolve().parent / "fixtures"
SWISH = ROOT / "examples" / "plugins" / "swish.c"
KISS_DFT = ROOT / "examples" / "plugins" / "kiss_dft.c"

# Of each -DFAULT=k of faults.c: the check that it belongs to, and what that check says.
FAULTS = {
    1: ("pure", "`infer` returns something else"),
    2: ("pure", "`workspace` returns something else"),
    3: ("inference", "result 0 is f32[3,3] by `infer` and f32[2,3] by the definition"),
    4: ("inference", "result 0 is f64[2,3] by `infer` and f32[2,3] by the definition"),
    5: ("inference", "result 0 is f32[2] by `infer` and f32[2,3] by the definition"),
    6: ("inference", "by symbols"),
    7: ("canaries", "result 'y': writes 4 bytes before it"),
    8: ("canaries", "result 'y': writes 4 bytes past its end"),
    9: ("workspace", "workspace: writes 4 bytes past its end"),
    10: ("workspace", "and that of the smaller"),
    11: ("canaries", "operand 1 is overwritten"),
    12: ("attach", "an attached object: result 0 differs"),
    13: ("save", "an object made of what was saved: result 0 differs"),
    14: ("contexts", "while another context runs: result 0 differs"),
    15: ("tactics", "tactic 2 (backward): result 0 is not what the definition gives"),
    16: ("written", "4 bytes of result 0 are not written"),
    17: ("definition", "nan, reference"),
    18: ("host", "parallel_for fails, and enqueue reports success"),
    19: ("addresses", "the second run, on memory elsewhere: result 0 differs"),
    20: ("runs", "it ended the process (exit code 0)"),
    21: ("runs", "it crashed (signal 11"),
    22: ("runs", "it did not return within"),
    23: ("leaks", "256 lives of an object leave 768 resources unreleased"),
    24: ("fields", "scale = 10.0 is refused, which it declares legal"),
    25: ("fields", "axis = 30000 is taken, and its definition refuses it"),
    26: ("workspace", "with other bytes in the workspace before: result 0 differs"),
    27: ("host", "it crashed (signal 11"),
    28: ("leaks", "bytes on the heap"),
    29: ("pure", "`supports` reads types and layouts after the position that it is called for"),
    30: ("in place", "with a result in the memory of an operand: result 0 differs"),
    31: ("host", "the run after one in which parallel_for failed: result 0 differs"),
    32: ("host", "put fails, and save reports success"),
    33: ("fields", "it crashed (signal 11"),
    34: ("contexts", "in pieces, the last one first: result 0 differs"),
    35: ("formats", "channels-last, row-major -> channels-last: result 0 is not what the definition gives"),
    36: ("tactics", "its tactics cannot be: its `tactics` offers one twice"),
    37: ("runs", "parallel_for: there is no body"),
}
HANGS = 22

# The fields of GPTAttention that the page about TensorRT-LLM's plugins reads, and their types.
PAGE_FIELDS = {
    "layer_idx": "i32",
    "num_heads": "i32",
    "vision_start": "i32",
    "vision_length": "i32",
    "num_kv_heads": "i32",
    "remove_input_padding": "i8",
    "mask_type": "i32",
    "block_sparse_block_size": "i32",
    "block_sparse_homo_head_pattern": "i8",
    "block_sparse_num_local_blocks": "i32",
    "block_sparse_vertical_stride": "i32",
}


@unittest.skipUnless(shutil.which("cc") and shutil.which("c++"), "needs a C and a C++ compiler")
class Kit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def compiled(self, source: Path, *options: str) -> Path:
        out = self.folder / f"{source.stem}{''.join(options)}.so"
        compiler = ["cc", "-std=c11"] if source.suffix == ".c" else ["c++", "-std=c++17"]
        flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
        subprocess.run([*compiler, *flags, source, *options, "-o", out, "-lm"], check=True)
        return out

    def report(self, *arguments: object, status: int = 0, **options: object) -> dict:
        done = small_models.tenon("plugin", *arguments, "--json", **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def findings(self, library: Path, *options: object) -> dict[str, list[str]]:
        """Of each check that found something, what it found."""
        report = self.report("test", library, *options, status=1)
        self.assertEqual(report["error"]["name"], "device_failed")
        found = {c["check"]: [f["what"] for f in c["findings"]] for c in report["checks"] if c["findings"]}
        self.assertEqual(report["findings"], sum(len(all_of_it) for all_of_it in found.values()))
        return found

    def test_each_planted_fault_is_found_by_its_check(self):
        for fault, (check, text) in FAULTS.items():
            with self.subTest(fault=fault, check=check):
                timeout = ["--timeout", "5"] if fault == HANGS else []
                found = self.findings(self.compiled(FIXTURES / "faults.c", f"-DFAULT={fault}"), *timeout)
                self.assertIn(check, found)
                self.assertTrue(any(text in what for what in found[check]), found[check])

    def test_null_sizes_are_refused(self):
        found = self.findings(self.compiled(FIXTURES / "ops.c", "-DNULL_SIZES"), "Positive")
        self.assertTrue(all("set_sizes: a pointer is null" in what for what in found["runs"]), found["runs"])

    def test_an_exception_that_leaves_a_function(self):
        found = self.findings(self.compiled(FIXTURES / "throws.cpp"))
        self.assertEqual(list(found), ["runs"])
        self.assertIn("nobody catches this", found["runs"][0])

    def test_sound_plugins_raise_no_alarm(self):
        whole = [self.compiled(source) for source in (SWISH, FIXTURES / "sound.c")] + [self.compiled(FIXTURES / "faults.c", "-DFAULT=0")]
        others, in_cpp = self.compiled(FIXTURES / "ops.c"), self.compiled(FIXTURES / "cpp_ops.cpp")
        tuned = self.compiled(FIXTURES / "tuned.c")
        calls = (
            [(library,) for library in whole]
            + [(in_cpp, "ScaledSum")]
            + [(tuned, op) for op in ("Channels", "Strided", "OnlyChannels")]
            + [(others, op) for op in ("Double", "Positive", "Total", "Gate", "Fielded")]
        )
        ops = set()
        for call in calls:
            with self.subTest(call=call):
                checks = self.report("test", *call)["checks"]
                self.assertEqual({c["result"] for c in checks}, {"good"})
                ops |= {c["op"] for c in checks}
        self.assertGreaterEqual(len(ops), 10)

    def test_refusing_what_was_made_up_is_no_fault(self):
        library = self.compiled(FIXTURES / "choosy.c")
        for op in ("Pairs", "Some"):
            with self.subTest(op=op):
                checks = self.report("test", library, op)["checks"]
                self.assertEqual({c["result"] for c in checks}, {"good"})

    def test_an_op_that_refuses_all_that_was_made_up_is_not_passed(self):
        library = self.compiled(FIXTURES / "choosy.c")
        for op, why in (("NoTypes", "operands are a key and a map"), ("NoRuns", "the license is not there")):
            with self.subTest(op=op):
                found = self.findings(library, op)
                self.assertEqual(list(found), ["runs"])
                self.assertEqual(len(found["runs"]), 1)
                self.assertIn("no case ran", found["runs"][0])
                self.assertIn("give it samples", found["runs"][0])
                self.assertIn(why, found["runs"][0])

    def test_a_sample_of_its_own_an_op_must_take(self):
        found = self.findings(self.compiled(FIXTURES / "choosy.c"), "Promised")
        self.assertIn("fewer than 6 elements", found["runs"][0])

    def test_a_kernel_is_judged_by_the_op_that_it_is_one_of(self):
        found = self.findings(self.compiled(FIXTURES / "ops.c"), "NegativeRelu")
        self.assertIn("canaries", found, "it takes every dtype, and knows one")
        self.assertIn("result 0 is not what the definition gives", found["definition"][0])

    @unittest.skipUnless(Path("/usr/include/kissfft/kiss_fft.h").exists(), "needs KissFFT")
    def test_a_sound_kernel_of_an_op_that_exists(self):
        checks = self.report("test", self.compiled(KISS_DFT, "-lkissfft-float"))["checks"]
        self.assertEqual({c["result"] for c in checks}, {"good"})

    def test_one_op_of_a_library(self):
        library = self.compiled(FIXTURES / "sound.c")
        for name in ("Mean", "sound::Mean"):
            self.assertEqual({c["op"] for c in self.report("test", library, name)["checks"]}, {"sound::Mean"})
        for verb in ("test", "show"):
            error = self.report(verb, library, "Maen", status=2)["error"]
            self.assertEqual((error["name"], error["found"]), ("bad_usage", "Maen"))

    def test_a_library_that_is_none(self):
        for verb in ("list", "show", "test"):
            self.assertEqual(self.report(verb, self.folder / "nowhere.so", status=1)["error"]["name"], "file_missing")
            self.assertEqual(self.report(verb, SWISH, status=1)["error"]["name"], "bad_file")

    def test_creators_of_ops_of_tenon(self):
        listed = self.report("list", env={**os.environ, "TENON_PLUGINS": str(self.compiled(SWISH))})
        (creator,) = listed["creators"]
        self.assertEqual(
            [creator[k] for k in ("namespace", "name", "version", "op")], ["tensorrt_llm", "GPTAttention", "1", "tenon::GPTAttention"]
        )
        operands = ["qkv", "context_lengths", "past_key_value", "qkv_bias", "past_lengths", "page_table", "window", "logn_scaling"]
        self.assertEqual([one["name"] for one in creator["operands"]], operands)
        fields = {field["name"]: field for field in creator["fields"]}
        self.assertEqual(len(fields), len(creator["fields"]))
        required = {"num_heads", "num_kv_heads", "head_size", "remove_input_padding", "mask_type"}
        self.assertEqual({name for name, field in fields.items() if field["required"]}, required)
        for name, kind in PAGE_FIELDS.items():
            self.assertEqual(fields[name]["type"], kind, name)
        self.assertEqual((fields["q_scaling"]["type"], fields["q_scaling"]["default"]), ("f32", "1"))
        self.assertEqual((fields["mask_type"]["range"], fields["cp_group"]["type"]), ([0, 2], "i32[]"))
        self.assertEqual([one["name"] for one in listed["libraries"]], ["swish"])
        text = small_models.tenon("plugin", "list").stdout
        for part in ("tensorrt_llm::GPTAttention", "  operand     qkv: f32 or f16 or bf16", "  field       num_heads: i32, must be given"):
            self.assertIn(part, text)

    def test_verbose_prints_each_creator_once(self):
        own = "tenon: Registered plugin creator GPTAttention version 1 in namespace tensorrt_llm"
        swish = "swish: Registered plugin creator Swish version 1 in namespace acme"
        library = self.compiled(SWISH)
        for arguments, wanted in (
            (("list", "--verbose"), [own]),
            (("list", library, "--verbose"), [swish]),
            (("list", library), []),
        ):
            done = small_models.tenon("plugin", *arguments)
            self.assertEqual((done.returncode, done.stderr.splitlines()), (0, wanted), arguments)
        model = ROOT / "examples" / "plugins" / "model.onnx"
        for options, wanted in ((("--verbose",), [own, swish]), ((), [])):
            done = small_models.tenon("build", model, "--plugin", library, "-o", self.folder / "verbose.tenon", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([line for line in done.stderr.splitlines() if "Registered" in line], wanted)

    def test_what_a_library_says_of_itself(self):
        swish, ops = self.compiled(SWISH), self.compiled(FIXTURES / "ops.c")
        listed = self.report("list", swish, ops)["libraries"]
        self.assertEqual([one["name"] for one in listed], ["swish", "ops"])
        self.assertEqual([op["name"] for op in listed[0]["ops"]], ["Swish"])
        self.assertLessEqual({"Double", "Positive"}, {op["name"] for op in listed[1]["ops"]})
        shown = self.report("show", swish, "acme::Swish")
        digest = subprocess.run(["sha256sum", swish], capture_output=True, text=True, check=True).stdout.split()[0]
        self.assertEqual((shown["needs"], shown["sha256"]), (1, digest))
        op = shown["ops"][0]
        self.assertEqual(op["definition"], "Mul(x, Sigmoid(Mul(x, beta)))")
        self.assertEqual(op["functions"], ["create", "destroy", "infer", "enqueue"])
        self.assertEqual(op["operands"], [{"name": "x", "dtypes": ["f32"], "optional": False, "variadic": False, "in_place": -1}])
        self.assertEqual(op["results"][0]["in_place"], 0)
        self.assertEqual(op["fields"], [{"name": "beta", "type": "f32", "required": False, "default": "1", "docs": "how steep it is"}])
        fields = {f["name"]: f for f in self.report("show", ops, "Fielded")["ops"][0]["fields"]}
        self.assertEqual(fields["scale"]["range"], [0, 10])
        self.assertEqual(fields["mode"]["choices"], ["plain", "fancy"])
        self.assertEqual((fields["needed"]["type"], fields["needed"]["required"]), ("i32[2]", True))


if __name__ == "__main__":
    unittest.main()
