# SPDX-License-Identifier: Apache-2.0
"""Plugins in declared networks, as code for TensorRT-LLM puts them there, with libraries that are written for TensorRT's interfaces."""

import os
import subprocess
import sys
from pathlib import Path

from plugin_libraries import compiled

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LIBRARIES = ("trt_gemm_v2.cpp", "trt_attention_v2.cpp", "trt_swish_v3.cpp", "versions.c")


def test_networks_with_plugins(tmp_path):
    libraries = [compiled(f"tests/plugin/fixtures/{name}", tmp_path) for name in LIBRARIES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, HERE / "graph_rewriting_plugins.py", *libraries], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "all is well\n"
