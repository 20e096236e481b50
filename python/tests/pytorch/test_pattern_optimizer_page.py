# SPDX-License-Identifier: Apache-2.0
"""The block of yet-another-onnx-builder's page "Pattern Optimizer" that starts from a module (../test_pattern_optimizer_page.py has the others)."""

# ruff: noqa
# fmt: off
import pytest

torch = pytest.importorskip("torch")
from tenon.pattern_optimizer import OptimizationOptions, pretty_onnx, to_onnx


def test_a_torch_module_becomes_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class MLP(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(10, 32),
                torch.nn.ReLU(),
                torch.nn.Linear(32, 1),
            )

        def forward(self, x):
            return self.layers(x)

    x = torch.rand(3, 10)

    onx = to_onnx(MLP(), (x,), input_names=["x"], options=OptimizationOptions(patterns=None))
    with open("temp_doc_mlp.onnx", "wb") as f:
        f.write(onx.SerializeToString())
    print(pretty_onnx(onx))
    assert "Relu" in pretty_onnx(onx)
