# SPDX-License-Identifier: Apache-2.0
"""Another inference engine in a process of its own, so that its threads can be stopped while Tenon is measured.

It answers "ready LOAD_MS FIRST_MS VERSION", then one line a command on stdin:
  run N         N runs back to back after one that does not count (of llama.cpp without one): "times MS MS ..."
  cold N        N runs, the caches evicted before each: "times MS MS ..."
  inputs FILE   other inputs from now on, of the names in an .npz (onnxruntime, openvino, llama.cpp): "read"
  outputs FILE  the results as an .npz of arr_0, arr_1, ...: "written"
What ends it is a line "error missing PACKAGE", "error unfit WHY" (this model and this engine), or "error WHY".
All engines get the same number of threads, inputs ready in memory, and arithmetic in fp32 but for what --precision says to OpenVINO.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

Feeds = dict[str, np.ndarray]
Runner = Callable[[], list[np.ndarray]]


def onnxruntime_runner(asked: argparse.Namespace, feeds: Feeds) -> tuple[Runner, str]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = asked.threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    source: str | bytes = asked.model
    if asked.external_data:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", asked.external_data)
        source = Path(asked.model).read_bytes()
    if asked.fixed_shapes:
        for name, size in free_sizes(asked.model, feeds).items():
            options.add_free_dimension_override_by_name(name, size)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    keep_names(feeds, [value.name for value in session.get_inputs()])
    return lambda: session.run(None, feeds), onnxruntime.__version__


def keep_names(feeds: Feeds, names: list[str]) -> None:
    """Leaves those inputs alone that the model has; a model without one of them is an error."""
    kept = {name: feeds[name] for name in names}
    feeds.clear()
    feeds.update(kept)


def free_sizes(model: str, feeds: Feeds) -> dict[str, int]:
    """The sizes that the inputs give to the model's named dimensions."""
    import onnx

    found = {}
    for value in onnx.load(model, load_external_data=False).graph.input:
        dims = value.type.tensor_type.shape.dim
        found |= {dim.dim_param: size for dim, size in zip(dims, feeds[value.name].shape) if dim.dim_param}
    return found


def with_outputs(model: str, wanted: list[str], folder: Path) -> tuple[str, str]:
    """The model with these outputs alone, as a file in `folder`, and the folder of its external data."""
    import onnx

    proto = onnx.load(model, load_external_data=False)
    kept = [value for value in proto.graph.output if value.name in wanted]
    del proto.graph.output[:]
    proto.graph.output.extend(kept)
    path = folder / "outputs.onnx"
    path.write_bytes(proto.SerializeToString())
    has_external = any(each.external_data for each in proto.graph.initializer)
    return str(path), str(Path(model).resolve().parent) if has_external else ""


def with_external_data(asked: argparse.Namespace) -> str:
    """The model's path; with a folder for external data, one that brings both together by hard links, or copies."""
    if not asked.external_data:
        return asked.model
    import onnx

    graph = onnx.load(asked.model, load_external_data=False).graph
    wanted = {entry.value for each in graph.initializer for entry in each.external_data if entry.key == "location"}
    folder = Path(asked.inputs).parent / "model"
    folder.mkdir()
    for source, name in [(Path(asked.model), "model.onnx"), *((Path(asked.external_data) / name, name) for name in wanted)]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source.resolve(), folder / name)
        except OSError:  # another file system
            shutil.copyfile(source, folder / name)
    return str(folder / "model.onnx")


def openvino_runner(asked: argparse.Namespace, feeds: Feeds) -> tuple[Runner, str]:
    import openvino

    core = openvino.Core()
    model = core.read_model(with_external_data(asked))
    if asked.fixed_shapes:
        model.reshape({port.any_name: feeds[port.any_name].shape for port in model.inputs})
    settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": asked.threads}
    # Without the hint the CPU plugin takes bf16 where the CPU has it.
    compiled = core.compile_model(model, "CPU", settings | {"INFERENCE_PRECISION_HINT": asked.precision})
    request = compiled.create_infer_request()
    keep_names(feeds, [port.any_name for port in compiled.inputs])

    def run() -> list[np.ndarray]:
        request.infer(feeds, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(k).data for k in range(len(compiled.outputs))]

    return run, f"{openvino.get_version().split('-')[0]} ({'fixed' if asked.fixed_shapes else 'dynamic'} shapes)"


def torch_runner(asked: argparse.Namespace, feeds: Feeds) -> tuple[Runner, str]:
    import onnx
    import torch_peer

    model = onnx.load(asked.model, load_external_data=not asked.external_data)
    if asked.external_data:
        onnx.load_external_data_for_model(model, asked.external_data)
    return torch_peer.load(model, [feeds[value.name] for value in model.graph.input if value.name in feeds], asked.threads)


def module_runner(compiled: bool) -> Callable[[argparse.Namespace, Feeds], tuple[Runner, str]]:
    def runner(asked: argparse.Namespace, feeds: Feeds) -> tuple[Runner, str]:
        import torch_module

        return torch_module.load(asked.model, feeds, asked.threads, compiled)

    return runner


def llama_runner(asked: argparse.Namespace, feeds: Feeds) -> tuple[Runner, str]:
    import llama_peer

    return llama_peer.load(asked.model, feeds, asked.threads)


RUNNERS = {"onnxruntime": onnxruntime_runner, "openvino": openvino_runner, "torch": torch_runner}
RUNNERS |= {"llama.cpp": llama_runner, "torch-eager": module_runner(False), "torch-compile": module_runner(True)}


class Evictor:
    """Streams through more memory than the caches hold, on as many threads as the engine has."""

    def __init__(self, threads: int) -> None:
        self.parts = np.array_split(np.ones(64 << 20, np.float32), threads)
        self.pool = ThreadPoolExecutor(threads)

    def evict(self) -> None:
        for _ in self.pool.map(np.max, self.parts):
            pass


def milliseconds_of(call: Callable[[], object]) -> float:
    if hasattr(call, "prepare"):
        call.prepare()
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def serve(answer: Callable[[str], None], run: Runner, feeds: Feeds, threads: int) -> None:
    evictor = None
    for line in sys.stdin:
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "run":
            if not hasattr(run, "prepare"):
                run()
            answer("times " + " ".join(f"{milliseconds_of(run):.6f}" for _ in range(int(argument))))
        elif command == "cold":
            evictor = evictor or Evictor(threads)
            times = []
            for _ in range(int(argument)):
                evictor.evict()
                times.append(f"{milliseconds_of(run):.6f}")
            answer("times " + " ".join(times))
        elif command == "inputs":
            with np.load(argument) as archive:
                feeds.update({name: archive[name] for name in feeds})
            answer("read")
        elif command == "outputs":
            if hasattr(run, "prepare"):
                run.prepare()
            np.savez(argument, *run())
            answer("written")
        else:
            raise ValueError(f"there is no command {command!r}")


def prepare(asked: argparse.Namespace) -> tuple[Runner, Feeds, str]:
    """Loads the engine and runs it once; returns how to run it, the inputs that it reads, and the line that says it is ready."""
    with np.load(asked.inputs) as archive:
        feeds = {name: archive[name] for name in archive.files}
    if asked.only_output:
        asked.model, own_data = with_outputs(asked.model, asked.only_output, Path(asked.inputs).parent)
        asked.external_data = asked.external_data or own_data
    start = time.perf_counter()
    run, version = RUNNERS[asked.peer](asked, feeds)
    load = (time.perf_counter() - start) * 1e3
    first = milliseconds_of(run)
    return run, feeds, f"ready {load:.6f} {first:.6f} {version}"


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:2000]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=RUNNERS)
    parser.add_argument("model", help="an ONNX file; for llama.cpp a GGUF file, for torch-eager and torch-compile a family of tools/models")
    parser.add_argument("inputs", help="an .npz with one array for each input of the model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--external-data", help="folder of the model's external data")
    parser.add_argument("--fixed-shapes", action="store_true", help="prepare for the inputs' shapes alone")
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32", help="of openvino's products")
    parser.add_argument("--only-output", action="append", metavar="NAME", help="an output that is wanted (default: all)")
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(asked.threads)
    # What a library prints goes to stderr; the answers have the real stdout to themselves.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        run, feeds, ready = prepare(asked)
    except ModuleNotFoundError as error:
        print(f"error missing {error.name}", file=answers)
        return 1
    except Exception as error:  # noqa: BLE001  whatever a peer raises is an answer
        print(f"error unfit {one_line(error)}", file=answers)
        return 1
    try:
        print(ready, file=answers)
        serve(lambda text: print(text, file=answers), run, feeds, asked.threads)
    except Exception as error:  # noqa: BLE001
        print(f"error {one_line(error)}", file=answers)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
