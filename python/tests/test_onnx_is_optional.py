# SPDX-License-Identifier: Apache-2.0
"""Only the pattern optimizer needs the package onnx."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["onnx"] = None
import tenon, tenon.rewriting
try:
    import tenon.pattern_optimizer
except ImportError as e:
    print(e)
"""


def test_tenon_comes_without_onnx_and_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "pip install onnx" in done.stdout and done.stderr == ""
