# SPDX-License-Identifier: Apache-2.0
"""An ONNX model as PyTorch runs it: onnx2pytorch makes a module, and what that does is recorded for torch.compile.

The module works out shapes in Python while it runs, which torch.compile breaks on and eager PyTorch is slow at. So one
run is recorded: the graph of its tensor operations, for these inputs' shapes.
"""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable
from unittest.mock import MagicMock

import numpy as np
import onnx
import torch
from torch import fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

try:
    import torchvision  # noqa: F401
except Exception:  # noqa: BLE001  onnx2pytorch imports it for the ops of detectors alone, and a broken one raises anything
    for name in ("torchvision", "torchvision.io", "torchvision.ops"):
        sys.modules[name] = MagicMock()
from onnx2pytorch import ConvertModel

Tensors = list[torch.Tensor]


class Recorder(TorchDispatchMode):
    """Writes down each operation on tensors that runs under it; numbers read from tensors become constants."""

    def __init__(self, inputs: Tensors) -> None:
        super().__init__()
        self.graph, self.root = fx.Graph(), torch.nn.Module()
        self.nodes = {id(tensor): self.graph.placeholder(f"input_{k}") for k, tensor in enumerate(inputs)}
        self.kept = list(inputs)  # an id says which tensor it is for as long as that lives

    def node_of(self, value: object) -> object:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in self.nodes:
            name = f"constant_{len(self.kept)}"
            self.root.register_buffer(name, value.detach())
            self.keep(value, self.graph.get_attr(name))
        return self.nodes[id(value)]

    def keep(self, tensor: torch.Tensor, node: fx.Node) -> None:
        self.nodes[id(tensor)] = node
        self.kept.append(tensor)

    def __torch_dispatch__(self, called: Callable, types: object, args: tuple = (), kwargs: object = None) -> object:
        kwargs = kwargs or {}
        result = called(*args, **kwargs)
        read = any(isinstance(each, torch.Tensor) for each in tree_leaves((args, kwargs)))
        if not read or not any(isinstance(each, torch.Tensor) for each in tree_leaves(result)):
            return result
        node = self.graph.call_function(called, *tree_map(self.node_of, (args, kwargs)))
        if isinstance(result, torch.Tensor):
            self.keep(result, node)
            return result
        for k, each in enumerate(result):
            if isinstance(each, torch.Tensor):
                self.keep(each, self.graph.call_function(operator.getitem, (node, k)))
        return result

    def module(self, results: Tensors) -> fx.GraphModule:
        self.graph.output(tuple(self.node_of(each) for each in results))
        self.graph.eliminate_dead_code()
        return fx.GraphModule(self.root, self.graph)


def recorded(model: onnx.ModelProto, inputs: Tensors) -> fx.GraphModule:
    module = ConvertModel(model).eval()
    with Recorder(inputs) as recorder:
        results = module(*inputs)
    return recorder.module(list(results) if isinstance(results, (tuple, list)) else [results])


def load(model: onnx.ModelProto, inputs: list[np.ndarray], threads: int) -> tuple[Callable[[], list[np.ndarray]], str]:
    """How to run the model on these inputs, and whether that is torch.compile's code."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
    torch._inductor.config.freezing = True
    given = [torch.from_numpy(each.copy()) for each in inputs]

    def runner(network: Callable) -> Callable[[], list[np.ndarray]]:
        def run() -> list[np.ndarray]:
            with torch.no_grad():  # freezing asks for it
                return [result.numpy() for result in network(*given)]

        return run

    with torch.no_grad():
        network = recorded(model, given)
    eager = runner(network)
    how = "eager, torch.compile fails"
    try:
        compiled = runner(torch.compile(network))
        if all(np.allclose(a, b, 1e-2, 1e-2, equal_nan=True) for a, b in zip(compiled(), eager(), strict=True)):
            return compiled, f"{torch.__version__} (torch.compile)"
        how = "eager, torch.compile answers otherwise"
    except Exception as error:  # noqa: BLE001  a compiler may raise anything; eager PyTorch is there still
        print(f"torch.compile: {type(error).__name__}: {error}", file=sys.stderr)
    return eager, f"{torch.__version__} ({how})"
