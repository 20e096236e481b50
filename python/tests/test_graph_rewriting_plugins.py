# SPDX-License-Identifier: Apache-2.0
"""Plugins in declared networks, as code for TensorRT-LLM puts them there, with libraries that are written for TensorRT's interfaces."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARIES = ("trt_gemm_v2.cpp", "trt_attention_v2.cpp", "trt_swish_v3.cpp", "versions.c")


@pytest.mark.skipif(not shutil.which("c++"), reason="needs a C++ compiler")
def test_networks_with_plugins(tmp_path):
    libraries = []
    for name in LIBRARIES:
        libraries.append(tmp_path / f"{name}.so")
        source = ROOT / "tests/plugin/fixtures" / name
        compiler = ["c++", "-std=c++17"] if name.endswith(".cpp") else ["cc"]
        subprocess.run([*compiler, "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}", source, "-o", libraries[-1], "-ldl"], check=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, HERE / "graph_rewriting_plugins.py", *libraries], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "all is well\n"
