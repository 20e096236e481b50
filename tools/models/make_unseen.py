# SPDX-License-Identifier: Apache-2.0
"""Exports small random networks of architectures drawn by a seed (random_architectures.py), each with both exporters.

.venv-models/bin/python tools/models/make_unseen.py --out build/unseen [--seed 9] [--kinds vision speech]

Beside MODEL.EXPORTER.onnx stand two sample inputs (.0.npz, .1.npz) and what PyTorch answers (.0.expected.npz, ...). An architecture
that neither exporter takes is passed over, with the reason, and the next one drawn takes its place. What an export came to stands in
KIND.MODEL.EXPORTER.txt, and is not tried again: a run that was stopped goes on, and runs over different kinds may go side by side.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import resource
import sys
import warnings
from pathlib import Path

import numpy
import onnx
import torch
import transformers
from make_models import answers, draw_statistics, draw_weights, export
from model_cases import Case
from random_architectures import KINDS, case_of, drawn

OPSETS = {"torchscript": 17, "dynamo": 20}
# Of processor time for one export, so that the draw does not depend on what else the machine does; and by the clock.
SECONDS, CLOCK = 240, 3600
SEED = 9
NOT_EXPORTED = "not exported: "


def finite(case: Case) -> bool:
    return all(numpy.isfinite(value).all() for sample in case.samples for value in answers(case, sample).values())


def ready_case(kind: str, name: str) -> Case:
    """With weights drawn so that mistakes show, or the library's own where those lead to numbers that are none."""
    case = case_of(kind, name)
    draw_weights(case.network)
    draw_statistics(case)
    return case if finite(case) else case_of(kind, name)


def write(kind: str, name: str, exporter: str, folder: Path) -> str:
    stem = f"{name}.{exporter}"
    case = ready_case(kind, name)
    note = ""
    try:
        export(case, exporter, OPSETS[exporter], folder / f"{stem}.onnx")
    except Exception as error:  # noqa: BLE001  an exporter may raise anything
        if exporter != "dynamo":
            raise
        note = f"fixed shapes, as symbolic ones fail ({type(error).__name__}); "
        case.axes = {each: {} for each in case.axes}
        case.samples = case.samples[:1]
        export(case, exporter, OPSETS[exporter], folder / f"{stem}.onnx")
    for index, sample in enumerate(case.samples):
        numpy.savez(folder / f"{stem}.{index}.npz", **sample)
        numpy.savez(folder / f"{stem}.{index}.expected.npz", **answers(case, sample))
    model = onnx.load(folder / f"{stem}.onnx", load_external_data=False)
    return f"{note}{len(model.graph.node)} nodes"


def attempt(kind: str, name: str, exporter: str, folder: Path, report: multiprocessing.Queue) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    with Path(os.devnull).open("w") as nowhere:  # an exporter that fails prints the whole graph
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
    try:
        report.put((True, write(kind, name, exporter, folder)))
    except Exception as error:  # noqa: BLE001
        report.put((False, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"))


def in_child(kind: str, name: str, exporter: str, folder: Path) -> tuple[bool, str]:
    """An exporter may crash or never end."""
    context = multiprocessing.get_context("fork")
    report = context.Queue()
    child = context.Process(target=attempt, args=(kind, name, exporter, folder, report))
    child.start()
    child.join(CLOCK)  # a short answer fits into the pipe
    result = (False, f"no answer within {SECONDS} s of processor time, or a crash") if report.empty() else report.get()
    child.kill()
    if not result[0]:
        (folder / f"{name}.{exporter}.onnx").unlink(missing_ok=True)
    return result


def outcome(kind: str, name: str, exporter: str, folder: Path) -> tuple[bool, str]:
    """Of this run or of an earlier one."""
    note = folder / f"{kind}.{name}.{exporter}.txt"
    if not note.exists():
        good, text = in_child(kind, name, exporter, folder)
        note.write_text(text if good else NOT_EXPORTED + text)
    text = note.read_text()
    return not text.startswith(NOT_EXPORTED), text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS), help="default: all")
    parser.add_argument("--only", nargs="*", default=[], help="architectures by name, whatever the draw")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    print(f"seed {options.seed}", flush=True)
    wanted = total = 0
    for kind, names, count in drawn(options.seed):
        if kind not in options.kinds:
            continue
        done = 0
        for name in [each for each in names if each in options.only] if options.only else names:
            if done == count:
                break
            results = [outcome(kind, name, exporter, options.out) for exporter in OPSETS]
            done += any(good for good, _ in results)
            for exporter, (_, text) in zip(OPSETS, results):
                print(f"{kind} {name}.{exporter}: {text}", flush=True)
        print(f"{kind}: {done} of {count} architectures", flush=True)
        wanted, total = wanted + count, total + done
    print(f"{total} of {wanted} architectures, seed {options.seed}")
    return 0 if options.only or total == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
