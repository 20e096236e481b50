# SPDX-License-Identifier: Apache-2.0
"""`./dev bench plugins`: what plugins cost beside what they compute.

Engines are timed by `tenon time`, in turns; the cost of a node is that of a hundred more of them, divided. Figures are medians with
the least and the largest; beside each stands what it is to be.
"""

import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "bad_input"))
import onnx_bytes as o  # noqa: E402
from environment import ROOT, TENON, run  # noqa: E402

TURNS = 9
MORE = 100  # nodes


def library(folder: Path, name: str, *options: str) -> Path:
    out = folder / f"{name}.so"
    run(["cc", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", *options, ROOT / "bench" / "empty_plugin.c", "-o", out])
    return out


def model(path: Path, nodes: list[bytes], outputs: list[str]) -> Path:
    inputs = [o.value_info(name, [1]) for name in "abcd"]
    graph = o.graph(nodes, inputs, [o.value_info(name, [1]) for name in outputs])
    path.write_bytes(o.model(graph) + o.message(8, o.text(1, "bench"), o.number(2, 1)))
    return path


def empty_nodes(folder: Path, count: int) -> Path:
    """Each takes four values and gives two, which the next one takes."""
    nodes, values = [], list("abcd")
    for k in range(count):
        nodes.append(o.node("Empty0", values, [f"p{k}", f"q{k}"], domain="bench"))
        values = [f"p{k}", f"q{k}", "c", "d"]
    return model(folder / f"empty{count}.onnx", nodes, values[:2])


def kernel_nodes(folder: Path, count: int) -> Path:
    """A kernel each, of one element: without rewriting and fusion."""
    names = ["a", *[f"v{k}" for k in range(count)]]
    nodes = [o.node("Abs" if k % 2 else "Neg", [names[k]], [names[k + 1]]) for k in range(count)]
    return model(folder / f"kernels{count}.onnx", nodes, [names[-1]])


def time_engines(engines: list[Path], *options: object) -> list[float]:
    return json.loads(run([TENON, "time", *engines, *options, "--threads", "1", "--json"]).stdout)["ns"]


def of_a_node(folder: Path, plugin: Path) -> Iterator[tuple[str, str, str]]:
    engines = []
    for make in (empty_nodes, kernel_nodes):
        for count in (1, 1 + MORE):
            source = make(folder, count)
            engines.append(source.with_suffix(".tenon"))
            run([TENON, "build", source, "--plugin", plugin, "--opt", "0", "--threads", "1", "-o", engines[-1], "--quiet"])
    over, bare = [], []
    for _ in range(TURNS):
        one, many, kernel, kernels = time_engines(engines, "--plugin", plugin)
        bare.append((kernels - kernel) / MORE)
        over.append((many - one) / MORE - bare[-1])
    yield "a node of a plugin that does nothing, 4 operands, 2 results, over a kernel of one element", spread(over, "ns"), "<= 100"
    yield "that kernel", spread(bare, "ns"), ""


def of_loading(folder: Path, plugin: Path) -> Iterator[tuple[str, str, str]]:
    ten = library(folder, "ten", "-DOPS=10")
    each = [library(folder, f"each{k}", "-DPADDING=100000", f'-DSPACE="space{k}"') for k in range(10)]
    engine = folder / "kernels1.tenon"
    words = {"none": [], "ten in one": ["--plugin", ten], "ten of 100 KB": [w for file in each for w in ("--plugin", file)]}
    times: dict[str, list[float]] = {name: [] for name in words}
    for _ in range(TURNS):
        for name, given in words.items():
            start = time.perf_counter()
            subprocess.run([TENON, "run", engine, *given, "--quiet"], check=True, capture_output=True)
            times[name].append((time.perf_counter() - start) * 1e3)
    for name, bar in (("ten in one", "<= 0.5"), ("ten of 100 KB", "<= 3")):
        yield (
            f"a run of the command line with plugins, {name}, over none",
            spread([a - b for a, b in zip(times[name], times["none"])], "ms"),
            bar,
        )


def of_a_library(folder: Path) -> Iterator[tuple[str, str, str]]:
    """KissFFT as a kernel of DFT beside Tenon's own, which is a product with a matrix."""
    if not Path("/usr/include/kissfft/kiss_fft.h").exists():
        yield "KissFFT as DFT", "not measured: needs libkissfft-dev", ">= 15"
        return
    kiss = folder / "kiss.so"
    source = ROOT / "examples" / "plugins" / "kiss_dft.c"
    run(["cc", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", source, "-o", kiss, "-lkissfft-float"])
    path = folder / "dft.onnx"
    ends = [o.value_info("x", [1, 2048, 1])], [o.value_info("y", [1, 2048, 2])]
    path.write_bytes(o.model(o.graph([o.node("DFT", ["x"], ["y"])], *ends)))
    engines = [folder / "native.tenon", folder / "kiss.tenon"]
    run([TENON, "build", path, "-o", engines[0], "--quiet"])
    run([TENON, "build", path, "--plugin", kiss, "--prefer", "kiss::DFT", "-o", engines[1], "--quiet"])
    times = [time_engines(engines, "--plugin", kiss) for _ in range(TURNS)]
    yield "KissFFT as DFT, 1 x 2048, beside Tenon's own", spread([native / theirs for native, theirs in times], "times as fast"), ">= 15"


def of_an_inner_graph(folder: Path) -> Iterator[tuple[str, str, str]]:
    """By a plugin that runs an inner graph and by Tenon's MatMul: of two operands; of one and a constant, which both lay out."""
    gemm = folder / "gemm.so"
    run(["cc", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", ROOT / "examples" / "plugins" / "gemm.c", "-o", gemm])
    a, b, y = o.value_info("a", [128, 768]), o.value_info("b", [768, 3072]), o.value_info("y", [128, 3072])
    weights = o.tensor("b", [768, 3072], struct.pack("<f", 0.5) * (768 * 3072))
    for what, inputs, constants in (("two operands", [a, b], []), ("an operand and a constant", [a], [weights])):
        engines = []
        for op, domain in (("MatMul", ""), ("Gemm", "acme")):
            path = folder / f"{op}{len(inputs)}.onnx"
            graph = o.graph([o.node(op, ["a", "b"], ["y"], domain=domain)], inputs, [y], constants)
            path.write_bytes(o.model(graph) + o.message(8, o.text(1, "acme"), o.number(2, 1)))
            engines.append(path.with_suffix(".tenon"))
            run([TENON, "build", path, "--plugin", gemm, "-o", engines[-1], "--quiet"])
        times = [time_engines(engines, "--plugin", gemm) for _ in range(TURNS)]
        title = f"a product of {what}, 128 x 768 by 768 x 3072, by an inner graph, beside MatMul"
        yield title, spread([native / inner for native, inner in times], "times as fast"), ">= 0.97"
        over = []
        for _ in range(TURNS):
            (here,) = time_engines(engines[1:], "--plugin", gemm)
            (there,) = time_engines(engines[1:], "--plugin", gemm, "--isolate-plugins")
            over.append((there / here - 1) * 100)
        yield title.replace("beside MatMul", "isolated, over in process"), spread(over, "%"), ""


def of_python() -> Iterator[tuple[str, str, str]]:
    """Functions that do nothing, called as nodes and as functions."""
    where = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    times = json.loads(run([sys.executable, Path(__file__).with_name("python_plugin.py")], env=where).stdout)
    for kind, how in (("into", "is given where its result goes"), ("given", "returns its operand, which is copied")):
        over = [ns / 1e3 for ns in times[kind]]
        yield f"a node of a plugin in Python that {how}, 64 elements, over the bare function", spread(over, "us"), "<= 10"


def of_isolation(folder: Path, plugin: Path) -> Iterator[tuple[str, str, str]]:
    """The same engines with plugins in this process and in one of their own."""
    small = [folder / f"empty{count}.tenon" for count in (1, 1 + MORE)]
    over = []
    for _ in range(TURNS):
        one, many = time_engines(small, "--plugin", plugin)
        isolated_one, isolated_many = time_engines(small, "--plugin", plugin, "--isolate-plugins")
        over.append(((isolated_many - isolated_one) - (many - one)) / MORE / 1e3)
    yield "a node of a plugin that does nothing, isolated, over one in process", spread(over, "us"), "<= 40"
    swish = folder / "swish.so"
    source = ROOT / "examples" / "plugins" / "swish.c"
    run(["cc", "-O2", "-shared", "-fPIC", "-I", ROOT / "include", source, "-o", swish, "-lm"])
    for megabytes in (1, 16):
        for kind, around in (("of the model's input", False), ("between kernels", True)):
            path = swish_model(folder, megabytes, around)
            engine = path.with_suffix(".tenon")
            run([TENON, "build", path, "--plugin", swish, "--opt", "0", "--threads", "1", "-o", engine, "--quiet"])
            more = []
            for _ in range(TURNS):
                (here,) = time_engines([engine], "--plugin", swish)
                (there,) = time_engines([engine], "--plugin", swish, "--isolate-plugins")
                more.append((there / here - 1) * 100)
            yield f"Swish of {megabytes} MB {kind}, isolated, over in process", spread(more, "%"), "<= 5"


def swish_model(folder: Path, megabytes: int, between_kernels: bool) -> Path:
    nodes = [o.node("Swish", ["x"], ["y"], domain="acme")]
    if between_kernels:
        nodes = [o.node("Neg", ["x"], ["a"]), o.node("Swish", ["a"], ["b"], domain="acme"), o.node("Neg", ["b"], ["y"])]
    ends = [[o.value_info(name, [megabytes << 18])] for name in "xy"]
    path = folder / f"swish{megabytes}{between_kernels}.onnx"
    path.write_bytes(o.model(o.graph(nodes, *ends)) + o.message(8, o.text(1, "acme"), o.number(2, 1)))
    return path


def of_harm(folder: Path) -> Iterator[tuple[str, str, str]]:
    """A thousand runs that end the plugin's process, and one behind each that has to be right."""
    harm = folder / "harm.so"
    source = ROOT / "tests" / "plugin" / "fixtures" / "harm.c"
    run(["cc", "-O1", "-shared", "-fPIC", "-I", ROOT / "include", source, "-o", harm, "-pthread"])
    where = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    report = json.loads(run([sys.executable, Path(__file__).with_name("isolated_harm.py"), harm, "1000"], env=where).stdout)
    for kind, times in report["ms"].items():
        late = report["timeout_ms"] if kind == "loop" else 0
        after = ", behind its deadline" if late else ""
        yield f"an isolated {kind}, until the error{after}", spread([ms - late for ms in times], "ms"), "<= 100"
    yield "runs of those 1,000 without an error, or wrong behind one; files left open", f"{report['wrong']}; {report['files_left']}", "0; 0"


def spread(values: list[float], unit: str) -> str:
    return f"{statistics.median(values):.2f} {unit} ({min(values):.2f} to {max(values):.2f})"


def rows() -> Iterator[tuple[str, str, str]]:
    """What is measured, the figure, what it is to be."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plugin = library(folder, "empty")
        for measure in (of_a_node, of_loading):
            yield from measure(folder, plugin)
        yield from of_isolation(folder, plugin)
        yield from of_a_library(folder)
        yield from of_an_inner_graph(folder)
        yield from of_harm(folder)
    yield from of_python()
