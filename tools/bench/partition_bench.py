# SPDX-License-Identifier: Apache-2.0
"""`./dev bench partition`: plans over several backends, on random graphs (bench/partition.cpp) and on real networks, through PyTorch too.

Engines are timed by `tenon time`, each load a process's own, in turns; figures are medians over the turns with the least and
the largest. Memory is the largest that a process had (VmHWM). Beside each figure stands what it is to be.
"""

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "bad_input"))
import onnx_bytes as o  # noqa: E402
from environment import ROOT, TENON, models_python, run  # noqa: E402

TURNS = 7
BERT = {"input_ids": "1x128"}
# The ten networks, with the shapes of their inputs.
NETWORKS = {
    "bert": BERT,
    "minilm": {"input_ids": "1x128"},
    "distilbert": {"input_ids": "1x128"},
    "gpt2": {"input_ids": "1x128"},
    "resnet": {"pixel_values": "1x3x224x224"},
    "vit": {"pixel_values": "1x3x224x224"},
    "swin": {"pixel_values": "1x3x224x224"},
    "convnext": {"pixel_values": "1x3x224x224"},
    "mobilenetv2": {"pixel_values": "1x3x224x224"},
    "yolo": {"pixel_values": "1x3x640x640"},
}


def libraries() -> dict[str, Path]:
    """Of the backends whose wheels are in .venv-peers."""
    packages = next((ROOT / ".venv-peers" / "lib").glob("python3*")) / "site-packages"
    found = {
        "onnxruntime": next(iter(sorted(packages.glob("onnxruntime/capi/libonnxruntime.so.*"))), None),
        "openvino": next(iter(packages.glob("openvino/libs/libopenvino_c.so*")), None),
    }
    known = {b["name"] for b in json.loads(run([TENON, "backends", "--json"]).stdout)["backends"]}
    return {name: path for name, path in found.items() if path and name in known}


class Bench:
    """What all rows share: libraries and number of threads."""

    def __init__(self, threads: int, folder: Path):
        self.threads, self.folder = threads, folder
        self.libraries = [word for name, path in libraries().items() for word in ("--backend-lib", f"{name}={path}")]
        self.backends = ["cpu", *libraries()]

    def report(self, verb: str, model: Path, *options: str) -> dict:
        return json.loads(run([TENON, verb, model, *self.libraries, "--threads", str(self.threads), *options, "--json"]).stdout)

    def built(self, name: str, model: Path, *options: str) -> Path:
        engine = self.folder / f"{name}.tenon"
        run([TENON, "build", model, *self.libraries, "--threads", str(self.threads), *options, "-o", engine, "--quiet"])
        return engine

    def times(self, engines: list[Path], turns: int = TURNS) -> list[list[float]]:
        """Milliseconds of each engine in each round."""
        out: list[list[float]] = [[] for _ in engines]
        for _ in range(turns):
            for k, engine in enumerate(engines):
                done = run([TENON, "time", engine, *self.libraries, "--threads", str(self.threads), "--json"])
                out[k].append(json.loads(done.stdout)["ns"][0] / 1e6)
        return out

    def peak_bytes(self, engine: Path) -> int:
        """Peak memory of a process that runs the engine once."""
        script = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); "
        script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        command = [sys.executable, "-c", script, TENON, "run", engine, *self.libraries, "--threads", str(self.threads)]
        return int(run(command).stdout) * 1024


def shape_options(shapes: dict[str, str]) -> list[str]:
    return [word for name, shape in shapes.items() for word in ("--shape", f"{name}={shape}")]


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def ratio_of(over: list[float], under: list[float]) -> list[float]:
    return [a / b for a, b in zip(over, under)]


def random_graphs() -> Iterator[tuple[str, str, str]]:
    program = ROOT / "build" / "bin" / "bench_partition"
    run(["ninja", "-C", ROOT / "build", "bench_partition"])
    report = json.loads(run([program]).stdout)
    walk, share = report["segments_beside_walk"], report["share_of_five"]
    yield "segments beside the walk's", f"{walk['ratio']:.3f}, above it in {walk['above']} of 60", "<= 0.55, never"
    yield "accelerated share, 5 a segment", f"{share['ours']:.3f} (walk {share['walk']:.3f})", ">= 0.81"
    yield "cost of running by priority", f"{report['cost_of_priority']['ratio']:.2f} times the plan by cost", ">= 1.15"
    for small, large in report["plans"]:
        growth = large["us_per_node"] / small["us_per_node"]
        yield (
            f"plan of {large['nodes']} nodes, {large['backends']} backends",
            f"{large['ms']:.0f} ms, {growth:.2f} times as much a node as {small['nodes']}; what-if {large['what_if_ms']:.0f} ms",
            "<= 300 ms, <= 1.5",
        )


def peers_python() -> Path:
    return ROOT / ".venv-peers" / "bin" / "python"


def segments_alone(bench: Bench, model: Path, plan: dict, shapes: dict[str, str]) -> list[Path]:
    """An engine of its own for each segment of a plan, cut out of the model that the plan is of."""
    folder = bench.folder / "segments"
    folder.mkdir(exist_ok=True)
    parts = json.dumps([[s["inputs"], s["outputs"]] for s in plan["segments"]])
    run([peers_python(), ROOT / "tools" / "bench" / "cut_out.py", model, folder], input=parts)
    every = shapes | {b["value"]: b["shape"].strip("[]").replace(", ", "x") for b in plan["borders"]}
    engines = []
    for k, segment in enumerate(plan["segments"]):
        inputs = {name: shape for name, shape in every.items() if name in segment["inputs"] or name in shapes}
        backends = list(dict.fromkeys([segment["backend"], "cpu"]))
        engines.append(bench.built(f"segment{k}", folder / f"{k}.onnx", *shape_options(inputs), "--backend", ",".join(backends)))
    return engines


def alternating_layers(bench: Bench, model: Path) -> Iterator[tuple[str, str, str]]:
    """Layers of BERT-base take turns between cpu and onnxruntime."""
    shapes = shape_options(BERT)
    layers = [f"network.encoder.layer.{k}={'cpu' if k % 2 else 'onnxruntime'}" for k in range(12)]
    options = [*shapes, "--backend", "cpu,onnxruntime", *[word for pin in layers for word in ("--pin", pin)]]
    engine = bench.built("alternating", model, *options)
    whole, parts, copies = [], [], 0
    for _ in range(TURNS):
        segments = bench.report("run", engine, "--segments")["segments"]
        parts.append(sum(s["us"] for s in segments) / 1e3)
        copies = sum(s["copies"] for s in segments)
        whole.append(bench.times([engine], 1)[0][0])
    yield f"BERT-base, layers on two backends ({len(segments)} segments)", f"{spread(ratio_of(whole, parts))} of its segments", "<= 1.05"
    yield "its copies at borders", str(copies), "0"
    plan = bench.report("partition", model, *options)
    whole, *alone = bench.times([engine, *segments_alone(bench, model, plan, BERT)])
    yield "it, beside an engine for each segment", spread(ratio_of(whole, [sum(turn) for turn in zip(*alone)])), "<= 1.05"
    built = [b for b in (s["backend"] for s in plan["segments"])]
    yield "its plan and what ran: segments", f"{len(built)} and {len(segments)}", "equal"
    alone = bench.report("partition", model, *shapes, "--backend", "cpu")["peak_bytes"]
    yield "its planned peak beside cpu's alone", f"{plan['peak_bytes'] / alone:.3f}", "<= 1.1"


def many_pieces(bench: Bench, model: Path) -> Iterator[tuple[str, str, str]]:
    """BERT-base in onnxruntime, cut by LayerNormalization and Softmax on cpu."""
    options = [*shape_options(BERT), "--backend", "onnxruntime,cpu"]
    one = bench.built("one", model, *options)
    many = bench.built("many", model, *options, "--fallback-ops", "LayerNormalization,Softmax")
    pieces = sum(s["backend"] == "onnxruntime" for s in bench.report("run", many, "--segments")["segments"])
    memory = [bench.peak_bytes(e) / bench.peak_bytes(one) for e in [many] * 3]
    yield f"BERT-base in {pieces} onnxruntime segments, peak memory beside one", spread(memory), "<= 1.1"


def tiny_segments(bench: Bench) -> Iterator[tuple[str, str, str]]:
    """64 segments of one node each take turns between cpu and onnxruntime."""
    nodes = [o.node("Neg" if k % 2 else "Abs", [f"v{k}"], [f"v{k + 1}"], name=f"n{k}") for k in range(64)]
    model = bench.folder / "tiny.onnx"
    model.write_bytes(o.model(o.graph(nodes, [o.value_info("v0", [16])], [o.value_info("v64", [16])])))
    halves = {}
    for name, op in (("onnxruntime", "Abs"), ("cpu", "Neg")):
        one = bench.folder / f"tiny-{name}.onnx"
        one.write_bytes(o.model(o.graph([o.node(op, ["x"], ["y"])], [o.value_info("x", [16])], [o.value_info("y", [16])])))
        halves[name] = bench.built(f"tiny-{name}", one, "--backend", f"{name},cpu" if name != "cpu" else "cpu", "--opt", "0")
    engine = bench.built("tiny", model, "--backend", "onnxruntime,cpu", "--fallback-ops", "Neg", "--opt", "0")
    whole, calls, kernels = bench.times([engine, halves["onnxruntime"], halves["cpu"]])
    alone = [32 * (c + k) for c, k in zip(calls, kernels)]
    yield "64 tiny segments beside their engines, each alone", spread(ratio_of(whole, alone)), "<= 1.5"
    run(["ninja", "-C", ROOT / "build", "bench_runtime_calls"])
    command = [ROOT / "build" / "bin" / "bench_runtime_calls", libraries()["onnxruntime"], bench.folder / "tiny-onnxruntime.onnx"]
    bare = [json.loads(run(command).stdout)["ns"] / 1e6 for _ in range(TURNS)]
    alone = [32 * (c + k) for c, k in zip(bare, kernels)]
    yield "64 tiny segments beside 32 bare calls of the runtime and 32 engines on cpu", spread(ratio_of(whole, alone)), "<= 1.5"


def networks(bench: Bench, model_of) -> Iterator[tuple[str, str, str]]:
    """The plan by measured costs, compared with plans where one backend runs all nodes that it supports."""
    yield "networks on " + ", ".join(bench.backends), "measured plan beside the fastest backend", "<= 1.03"
    for name, shapes in NETWORKS.items():
        model, options = model_of(name), shape_options(shapes)
        engines = [bench.built(b, model, *options, "--backend", b if b == "cpu" else f"{b},cpu") for b in bench.backends]
        order = ",".join([*bench.backends[1:], "cpu"])
        engines.append(bench.built("planned", model, *options, "--backend", order, "--assign", "cost", "--measure"))
        times = bench.times(engines)
        singles = dict(zip(bench.backends, times))
        fastest = min(singles, key=lambda b: statistics.median(singles[b]))
        each = ", ".join(f"{b} {statistics.median(t):.2f} ms" for b, t in singles.items())
        who = {s["backend"] for s in bench.report("run", engines[-1], "--segments")["segments"]}
        yield f"  {name}", f"{spread(ratio_of(times[-1], singles[fastest]))} of {fastest}; {each}; plan: {'+'.join(sorted(who))}", ""
        for engine in engines:
            engine.unlink()


def torch_segments(threads: int) -> Iterator[tuple[str, str, str]]:
    """BERT-base through tenon.torch, its gelus forced to eager PyTorch."""
    script = ROOT / "tools" / "bench" / "torch_segments.py"
    env = os.environ | {"PYTHONPATH": str(ROOT / "build" / "python")}
    report = json.loads(run([models_python(), script, str(threads), str(TURNS)], env=env).stdout.splitlines()[-1])
    ms = report["ms"]
    whole = [a + b for a, b in zip(ms["whole"], ms["gelus"])]
    what = f"BERT-base through torch, {report['segments'][1]} segments around eager gelus, beside {report['segments'][0]} and those gelus"
    yield what, f"{spread(ratio_of(ms['cut'], whole))}; eager {spread(ms['eager'])} ms, whole {spread(ms['whole'])} ms", "<= 1.1"
    yield "its largest error", f"{report['error']:.1e}", "<= 1e-4"


def rows(threads: int, model_of, parts: list[str]) -> Iterator[tuple[str, str, str]]:
    """What is measured, the figure, what it is to be."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(threads, Path(folder))
        every = {
            "random": random_graphs,
            "layers": lambda: alternating_layers(bench, model_of("bert")),
            "pieces": lambda: many_pieces(bench, model_of("bert")),
            "tiny": lambda: tiny_segments(bench),
            "torch": lambda: torch_segments(threads),
            "networks": lambda: networks(bench, model_of),
        }
        for part, measure in every.items():
            if not parts or part in parts:
                yield from measure()
