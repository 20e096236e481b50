# SPDX-License-Identifier: Apache-2.0
"""Exports one ONNX model for each network family, exporter and opset, with random weights.

Beside FAMILY.EXPORTER.OPSET.onnx stand two sample inputs of different shapes (.0.npz, .1.npz) and what PyTorch
answers to them (.0.expected.npz, .1.expected.npz). Decoders have a third sample without an answer (.2.npz), padded on
the left: its first places attend to nothing, where exporters and PyTorch disagree.

Weights are drawn so that a mistake shows: attention logits spread by 3 or more, no norm is neutral, and ONNX Runtime
confirms that masks and positions change the outputs.
"""

from __future__ import annotations

import argparse
import copy
import logging
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import bench_families
import numpy
import onnx
import onnxruntime
import torch
import transformers
from model_cases import Arrays, Case, random_generator
from model_checks import LOGIT_SPREAD, difference, faults
from model_families import BUILDERS
from torch import nn
from torch.nn import functional

OPSETS = {"torchscript": (13, 17), "dynamo": (18, 25)}
LARGEST_DIFFERENCE = 2e-3


class Positional(nn.Module):
    """Calls `network` by keyword, so that both exporters see bare tensors in a stated order."""

    def __init__(self, case: Case) -> None:
        super().__init__()
        self.network = case.network
        self.inputs = list(case.axes)
        self.outputs = case.outputs

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.network(**dict(zip(self.inputs, tensors)))
        return tuple(getattr(result, name) for name in self.outputs)


# ---------------------------------------------------------------- weights

QUERY_KEY = re.compile(r"\b(query|key|q_proj|k_proj|q_lin|k_lin|q|k)\.(weight|bias)$")


def drawn(name: str, shape: tuple[int, ...], owner: nn.Module, seed: int) -> numpy.ndarray:
    """What a parameter or buffer is set to: unit gain for weights, gain two for query and key, no norm neutral."""
    draw = random_generator(seed).standard_normal(shape, numpy.float32)
    if isinstance(owner, nn.Embedding) or "position" in name or len(shape) < 2:
        is_scale = (name.endswith("weight") and len(shape) == 1) or "layer_scale" in name
        return 1.0 + 0.5 * numpy.tanh(draw) if is_scale else draw * (0.3 if len(shape) < 2 else 1.0)
    transposed = isinstance(owner, transformers.pytorch_utils.Conv1D)
    inputs = shape[0] if transposed else int(numpy.prod(shape[1:]))
    draw *= 1.2 / numpy.sqrt(inputs)
    if transposed and name.endswith("c_attn.weight"):
        draw[:, : 2 * shape[1] // 3] *= 2.0
    return draw * 2.0 if QUERY_KEY.search(name) else draw


def draw_weights(network: nn.Module) -> None:
    """Sets all parameters; constants such as rotary frequencies are left alone."""
    owners = dict(network.named_modules())
    with torch.no_grad():
        for seed, (name, value) in enumerate(network.named_parameters()):
            owner = owners[name.rpartition(".")[0]]
            value.copy_(torch.as_tensor(drawn(name, tuple(value.shape), owner, seed)))


def draw_statistics(case: Case) -> None:
    """Sets batch norms to the statistics of the first sample, then off by a part, so that no layer goes silent."""
    norms = [each for each in case.network.modules() if isinstance(each, nn.BatchNorm2d)]
    for each in norms:
        each.train()
        each.momentum = 1.0
    answers(case, case.samples[0])
    for seed, each in enumerate(norms):
        each.eval()
        count = each.num_features
        drift, stretch = random_generator(seed).normal(0, 0.3, count), random_generator(seed).uniform(0.5, 2.0, count)
        each.running_mean += torch.from_numpy(drift).float() * each.running_var.sqrt()
        each.running_var *= torch.from_numpy(stretch).float()


class LogitSpread(torch.overrides.TorchFunctionMode):
    """Records the standard deviation of the logits of each attention that runs under it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def __torch_function__(self, called: Callable, types: object, args: tuple = (), kwargs: object = None) -> object:
        kwargs = kwargs or {}
        if called is functional.scaled_dot_product_attention:
            query, key = (*args, kwargs.get("query"), kwargs.get("key"))[:2]
            scale = kwargs.get("scale") or query.shape[-1] ** -0.5
            groups = query.shape[1] // key.shape[1]
            logits = query @ key.repeat_interleave(groups, 1).transpose(-1, -2) * scale
            self.seen.append(float(logits.std()))
        if called is functional.softmax and args[0].dim() >= 4:
            self.seen.append(float(args[0][args[0] > -1e4].std()))
        return called(*args, **kwargs)


def scale_attention(network: nn.Module, factor: float) -> None:
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name.endswith(("c_attn.weight", "c_attn.bias")):
                value[..., : 2 * value.shape[-1] // 3] *= factor
            elif QUERY_KEY.search(name):
                value *= factor


def spread_attention(case: Case) -> None:
    """Scales query and key weights until the least spread logits spread enough, and not so far that rounding decides.

    T5 needs the latter: it does not divide by the root of the head's width.
    """
    for _ in range(8):
        with LogitSpread() as spread, torch.no_grad():
            answers(case, case.samples[0])
        if not spread.seen or LOGIT_SPREAD <= min(spread.seen) <= 2 * LOGIT_SPREAD:
            return
        scale_attention(case.network, min(1.5, (1.1 * LOGIT_SPREAD / min(spread.seen)) ** 0.5))
    raise ValueError(f"attention logits do not settle near a spread of {LOGIT_SPREAD}: {spread.seen}")


# ---------------------------------------------------------------- export


def answers(case: Case, sample: Arrays) -> Arrays:
    tensors = [torch.from_numpy(sample[name]) for name in case.axes]
    with torch.no_grad():
        return {name: value.numpy() for name, value in zip(case.outputs, Positional(case)(*tensors))}


def build_case(family: str, size: str, exporter: str, opset: int) -> Case:
    """Opset 13 takes plain attention: the TorchScript exporter knows the fused form from opset 14 on."""
    attention = "eager" if exporter == "torchscript" and opset < 14 else "sdpa"
    case = (BUILDERS | bench_families.BUILDERS)[family](size, attention)
    case.network.eval()
    draw_weights(case.network)
    draw_statistics(case)
    spread_attention(case)
    return case


def output_axes(case: Case) -> dict[str, dict[int, str]]:
    """The output axes that differ between the samples, by the name of an input axis of both sizes where one is."""
    first, second = (answers(case, sample) for sample in case.samples[:2])
    sizes = {}
    for name, axes in case.axes.items():
        for axis, symbol in axes.items():
            sizes[tuple(sample[name].shape[axis] for sample in case.samples[:2])] = symbol
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for name in case.outputs:
        for axis, pair in enumerate(zip(first[name].shape, second[name].shape)):
            if pair[0] != pair[1]:
                found[name][axis] = sizes.get(pair, f"{name}_{axis}")
    return dict(found)


def export(case: Case, exporter: str, opset: int, path: Path) -> None:
    """Writes the model; leaves out the dynamo exporter's stack traces, which hold paths of the machine."""
    tensors = tuple(torch.from_numpy(case.samples[0][name]) for name in case.axes)
    heavy = sum(value.nbytes for value in case.network.parameters()) > 1 << 30
    options = {"input_names": list(case.axes), "output_names": case.outputs, "opset_version": opset, "verbose": False}
    if exporter == "torchscript":
        options |= {"dynamo": False, "dynamic_axes": copy.deepcopy(case.axes) | output_axes(case)}
    else:
        shapes = tuple(dict(axes) for axes in case.axes.values())
        options |= {"dynamo": True, "dynamic_shapes": (shapes,), "external_data": heavy}
    with torch.no_grad():
        torch.onnx.export(Positional(case).eval(), tensors, str(path), **options)
    written = onnx.load(path, load_external_data=False)
    for node in written.graph.node:
        kept = [each for each in node.metadata_props if "stack_trace" not in each.key]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(written, path)
    found = {entry.domain: entry.version for entry in written.opset_import}[""]
    if found != opset:
        raise ValueError(f"asked for opset {opset}, the exporter wrote {found}")


# ---------------------------------------------------------------- checks


def check(case: Case, path: Path) -> str:
    """Compares ONNX Runtime with PyTorch on both samples, then asks whether mistakes show; raises ValueError with findings."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    worst, wrong = 0.0, []
    for sample in case.samples[:2]:
        expected, found = answers(case, sample), dict(zip(case.outputs, session.run(case.outputs, sample)))
        for name in case.outputs:
            if not numpy.isfinite(expected[name]).all():
                wrong.append(f"{name} is not finite in PyTorch")
            worst = max(worst, difference(expected[name], found[name], None, 0))
    if not worst < LARGEST_DIFFERENCE:
        wrong.append(f"ONNX Runtime differs from PyTorch by {worst:.2g} standard deviations")
    hidden, seen = faults(path, case.samples[0])
    if wrong + hidden:
        raise ValueError("; ".join(wrong + hidden))
    return f"off by {worst:.1e}; {seen}"


def make(family: str, size: str, exporter: str, opset: int, folder: Path) -> str:
    stem = f"{family}.{exporter}.{opset}"
    case = build_case(family, size, exporter, opset)
    export(case, exporter, opset, folder / f"{stem}.onnx")
    for index, sample in enumerate(case.samples):
        numpy.savez(folder / f"{stem}.{index}.npz", **sample)
        if index < 2:
            numpy.savez(folder / f"{stem}.{index}.expected.npz", **answers(case, sample))
    return check(case, folder / f"{stem}.onnx")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", default=",".join(BUILDERS), help="comma-separated; default: all but those of bench_families.py")
    parser.add_argument("--exporter", choices=["torchscript", "dynamo", "both"], default="both")
    parser.add_argument("--opset", type=int, help="default: 13 and 17 (torchscript), 18 and 25 (dynamo)")
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--size", choices=["small", "full"], default="small")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    transformers.logging.set_verbosity_error()
    failures = []
    for family in options.families.split(","):
        for exporter in OPSETS if options.exporter == "both" else [options.exporter]:
            for opset in [options.opset] if options.opset else OPSETS[exporter]:
                label = f"{family}.{exporter}.{opset}"
                try:
                    print(f"{label}: {make(family, options.size, exporter, opset, options.out)}", flush=True)
                except Exception as error:  # noqa: BLE001  an exporter may raise anything; the others still run
                    failures.append(label)
                    print(f"{label}: FAILED: {type(error).__name__}: {str(error)[:600]}", flush=True)
    if failures:
        print(f"{len(failures)} failed: {', '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
