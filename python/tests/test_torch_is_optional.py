# SPDX-License-Identifier: Apache-2.0
"""Only tenon.torch needs PyTorch."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["torch"] = None
import tenon
try:
    import tenon.torch
except ImportError as e:
    print(e)
"""


def test_tenon_comes_without_torch_and_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert "pip install 'torch>=2.8'" in done.stdout and done.stderr == ""
