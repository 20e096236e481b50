# SPDX-License-Identifier: Apache-2.0
"""BERT-base through tenon.torch, whole and with its gelus in eager PyTorch, timed in turns.

PYTHONPATH=build/python .venv-models/bin/python tools/bench/torch_segments.py THREADS TURNS   prints milliseconds a turn as JSON
"""

import json
import os
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # PyTorch's threads must not spin while Tenon's compute
import torch
from torch import nn
from transformers import BertConfig, BertModel


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = BertModel(BertConfig())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids)[0]


def milliseconds(function) -> float:
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)


def main(threads: int, turns: int) -> None:
    import tenon.torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    module, ids = Encoder().eval(), torch.randint(0, 30000, (1, 128))
    whole = tenon.torch.compile(module, inputs=[ids])
    cut = tenon.torch.compile(module, inputs=[ids], torch_executed_ops=["aten::gelu"])
    wide = [torch.randn(1, 128, 3072) for _ in range(12)]
    with torch.no_grad():
        error = float((cut(ids) - module(ids)).abs().max())
        rows = {"whole": whole, "cut": cut, "eager": module, "gelus": lambda _: [nn.functional.gelu(x) for x in wide]}
        for function in rows.values():
            function(ids)
        times = {name: [] for name in rows}
        for _ in range(turns):
            for name, function in rows.items():
                times[name].append(milliseconds(lambda function=function: function(ids)))
    counts = [sum(s["backend"] == "tenon" for s in c.report["segments"]) for c in (whole, cut)]
    print(json.dumps({"ms": times, "segments": counts, "error": error}))


if __name__ == "__main__":
    main(int(sys.argv[1]) or os.cpu_count() or 1, int(sys.argv[2]))
