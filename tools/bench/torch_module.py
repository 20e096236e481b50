# SPDX-License-Identifier: Apache-2.0
"""The network that a model was exported from, as PyTorch runs it: eager, or compiled with frozen weights. Of .venv-models."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))

Feeds = dict[str, np.ndarray]


def module_of(family: str, feeds: Feeds) -> tuple[torch.nn.Module, list[torch.Tensor]]:
    """A family of tools/models with the weights that its export has, or the one op of an ONNX file."""
    if family.endswith(".onnx"):
        import single_ops

        module = single_ops.module_of(family)
        return module, [torch.from_numpy(each) for each in feeds.values()]
    import make_models
    import transformers

    transformers.logging.set_verbosity_error()
    case = make_models.build_case(family, "full", "dynamo", 18)
    return make_models.Positional(case), [torch.from_numpy(feeds[name]) for name in case.axes]


def load(family: str, feeds: Feeds, threads: int, compiled: bool) -> tuple[Callable[[], list[np.ndarray]], str]:
    warnings.filterwarnings("ignore")
    logging.getLogger("torch").setLevel(logging.ERROR)
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
    module, given = module_of(family, feeds)
    module.eval()
    if compiled:
        torch._inductor.config.freezing = True
        module = torch.compile(module, dynamic=False)

    def run() -> list[np.ndarray]:
        with torch.no_grad():  # freezing asks for it
            results = module(*given)
            return [each.numpy() for each in (results if isinstance(results, tuple) else (results,))]

    return run, torch.__version__
