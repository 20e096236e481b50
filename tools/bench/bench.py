# SPDX-License-Identifier: Apache-2.0
"""Measures Tenon beside other engines: real network shapes with random weights, in separate processes, in turns.

The models are exported once into build/models by tools/models/make_models.py, which needs PyTorch: it goes into .venv-models.
Every figure is a median; ratios come with their 95 % interval. Run it on a quiet machine, with nothing beside it.

All of it takes about 5 minutes, 40 s a row at most; the first time exporting adds about 2 minutes, and installing PyTorch
what its download takes: from PyPI on Linux on x86 that is the build with CUDA, about 3 GB; where pip knows PyTorch's index
of CPU wheels (PIP_EXTRA_INDEX_URL), 200 MB. --vs torch compiles for a minute a row.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import partition_bench  # noqa: E402
import plugins_bench  # noqa: E402
from environment import ROOT, TENON, models_python, run  # noqa: E402

MODELS = ROOT / "build" / "models"
PEERS = ("onnxruntime", "openvino", "torch")

# Work: family, then the shape of each input.
WORK = {
    "minilm-14": ("minilm", {"input_ids": "1x14"}),
    "minilm-8x32": ("minilm", {"input_ids": "8x32"}),
    "minilm-128": ("minilm", {"input_ids": "1x128"}),
    "bert-14": ("bert", {"input_ids": "1x14"}),
    "bert-128": ("bert", {"input_ids": "1x128"}),
    "resnet50": ("resnet", {"pixel_values": "1x3x224x224"}),
}
EXTRA = ("build", "start", "rewrite", "llama7b", "partition", "plugins")
ALL_SETS = "tenon+default+onnxruntime+canonical"


def model_of(family: str) -> Path:
    """The family's export at its real size."""
    path = MODELS / f"{family}.dynamo.18.onnx"
    if not path.exists():
        print(f"exporting {family}", flush=True)
        MODELS.mkdir(parents=True, exist_ok=True)
        script = ROOT / "tools" / "models" / "make_models.py"
        choice = ["--families", family, "--exporter", "dynamo", "--opset", "18", "--size", "full"]
        run([models_python(), script, "--out", MODELS, *choice])
    return path


def install_torch() -> None:
    """What --vs torch needs beside the other engines; once."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode != 0:
        print("installing PyTorch into .venv-peers", flush=True)
        run([python, "-m", "pip", "install", "--quiet", "-r", ROOT / "tools" / "requirements-torch.txt"])


def measure(name: str, threads: int, peer: str, cold: bool) -> dict:
    """One work item against another engine."""
    family, shapes = WORK[name]
    options = [word for key, value in shapes.items() for word in ("--shape", f"{key}={value}")]
    command = [TENON, "bench", model_of(family), *options, "--threads", str(threads), "--vs", peer, "--json"]
    command += ["--cold"] if cold else []
    return json.loads(run(command).stdout)


def measure_build(times: int = 5) -> dict:
    """Compiling BERT-base into an engine file: wall time of the whole process."""
    engine = MODELS / "bert.tenon"
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run([TENON, "build", model_of("bert"), "-o", engine, "--quiet"])
        taken.append((time.perf_counter() - start) * 1e3)
    return {"median_ms": sorted(taken)[times // 2], "all_ms": taken}


def measure_start(times: int = 9) -> dict:
    """From process start to the end of the first run, engine in the page cache."""
    engine = MODELS / "bert.tenon"
    if not engine.exists():
        run([TENON, "build", model_of("bert"), "-o", engine, "--quiet"])
    taken = []
    for _ in range(times + 1):
        start = time.perf_counter()
        run([TENON, "run", engine, "--shape", "input_ids=1x14", "--quiet"])
        taken.append((time.perf_counter() - start) * 1e3)
    return {"median_ms": sorted(taken[1:])[times // 2], "all_ms": taken[1:]}


def peers_python() -> Path:
    """Where ONNX Runtime is: what `./dev demo` has installed."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        sys.exit("bench rewrite shows ONNX Runtime's optimiser beside Tenon's: run ./dev demo first, which installs it")
    return python


def measure_rewrite() -> dict:
    """All rewriting passes on made-up graphs of 10,000 to 100,000 nodes (bench/rewrite.cpp) with every rule set; the median: model M of
    16,001. Beside it ONNX Runtime's optimiser on the same model, and what 1,000 rules cost that nearly match, against 100."""
    program = ROOT / "build" / "bin" / "bench_rewrite"
    run(["ninja", "-C", ROOT / "build", "bench_rewrite"])
    sizes = json.loads(run([program, "--json", "--rules", ALL_SETS]).stdout)
    scaling = json.loads(run([program, "--json", "--scaling"]).stdout)
    model = MODELS / "model_m.onnx"
    MODELS.mkdir(parents=True, exist_ok=True)
    run([program, "--write", model, "--nodes", "16001"])
    other = json.loads(run([peers_python(), ROOT / "tools" / "bench" / "ort_optimiser.py", model]).stdout)
    median = next(s["median_ms"] for s in sizes if (s["model"], s["nodes"]) == ("M", 16001))
    return {"median_ms": median, "sizes": sizes, "scaling": scaling, "onnxruntime": other}


def measure_llama() -> dict:
    """A graph in the shape of LLaMA-7B, weights by reference: from the file to the rewritten graph."""
    folder = MODELS / "llama7b"
    if not (folder / "llama7b.onnx").exists():
        run([models_python(), ROOT / "tools" / "models" / "make_large_model.py", folder])
    taken = [json.loads(run([TENON, "rewrite", folder / "llama7b.onnx", "--rules", "tenon", "--json"]).stdout) for _ in range(5)]
    return {"median_ms": sorted(t["read_ms"] + t["passes_ms"] for t in taken)[2], "runs": taken}


def measure_partition(threads: int, parts: list[str]) -> dict:
    """Plans over several backends: see partition_bench.py."""
    keys = ("what", "figure", "to_be")
    return {"rows": [dict(zip(keys, row)) for row in partition_bench.rows(threads, model_of, parts)]}


def measure_plugins() -> dict:
    """What plugins cost beside what they compute: see plugins_bench.py."""
    keys = ("what", "figure", "to_be")
    return {"rows": [dict(zip(keys, row)) for row in plugins_bench.rows()]}


def describe(name: str, result: dict) -> str:
    """One line of the table, or one a size."""
    if "rows" in result:
        return "\n".join(f"{row['what']}: {row['figure']}" + (f" [{row['to_be']}]" if row["to_be"] else "") for row in result["rows"])
    if "sizes" in result:
        row = "{:12} {model} {nodes:7} nodes {median_ms:9.1f} ms, {rewrite_ms:.1f} of them rules {us_per_node:7.2f} us each"
        lines = [row.format(name, **size) for size in result["sizes"]]
        lines += [
            "{:12} {rules:5} rules that nearly match {median_ms:6.2f} ms {ratio:5.2f} times".format(name, **s) for s in result["scaling"]
        ]
        other = result["onnxruntime"]
        return "\n".join(
            [*lines, f"{name:12} ONNX Runtime {other['version']}'s optimiser on M, 16001 nodes: {other['optimiser_ms']:.0f} ms"]
        )
    if "vs" not in result:
        return f"{name:12} {result['median_ms']:9.1f} ms"
    vs = result["vs"]
    ratio = f"{vs['ratio']:.2f} ({vs['ratio_low']:.2f} to {vs['ratio_high']:.2f})"
    share = f"{100 * result['roofline_share']:.0f} %"
    return f"{name:12} {result['median_ms']:9.2f} ms {vs['median_ms']:9.2f} ms   {ratio:22} {share:>6}   {vs['name']} {vs['version']}"


def measurements(asked: argparse.Namespace) -> Iterator[tuple[str, dict]]:
    """Each measurement under the name that it has in the JSON."""
    for name in asked.work or [*WORK, *EXTRA]:
        if name == "partition":
            yield name, measure_partition(asked.threads, asked.part or [])
            continue
        if name in EXTRA:
            yield (
                name,
                {
                    "plugins": measure_plugins,
                    "build": measure_build,
                    "start": measure_start,
                    "rewrite": measure_rewrite,
                    "llama7b": measure_llama,
                }[name](),
            )
            continue
        for peer in asked.vs or PEERS[:1]:
            key = name if peer == PEERS[0] else f"{name} vs {peer}"
            yield key, measure(name, asked.threads, peer, asked.cold)


def main() -> None:
    """Measures what was asked for and prints a table, or JSON."""
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="*", metavar="WORK", help=f"any of {', '.join([*WORK, *EXTRA])} (default: all)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--vs", action="append", choices=PEERS, help=f"may be given several times (default: {PEERS[0]})")
    parts = ("random", "layers", "pieces", "tiny", "torch", "networks")
    parser.add_argument("--part", action="append", choices=parts, help="of partition; may be given several times (default: all)")
    parser.add_argument("--cold", action="store_true", help="evict the caches before each run")
    parser.add_argument("--json", action="store_true", help="one object on stdout and nothing else")
    asked = parser.parse_args()
    unknown = [w for w in asked.work if w not in WORK and w not in EXTRA]
    if unknown:
        parser.error(f"no such work: {', '.join(unknown)}; there are {', '.join([*WORK, *EXTRA])}")
    if "torch" in (asked.vs or []):
        install_torch()
    results = {}
    if not asked.json:
        print(f"{platform.processor() or platform.machine()}, {asked.threads} threads, caches {'cold' if asked.cold else 'warm'}")
        print("work: Tenon, the other engine, how many times as fast, Tenon's share of the machine's limit, the other engine's name")
    for key, result in measurements(asked):
        results[key] = result
        if not asked.json:
            print(describe(key.partition(" ")[0], result), flush=True)
    if asked.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
