# SPDX-License-Identifier: Apache-2.0
"""./dev demo --plugin: the demo's sentence encoder with its six Gelus computed by a plugin, one file of C that is compiled here.

Tenon's own engine and the one with the plugin embed the same sentences and are measured in turns; then the plugin is broken on purpose.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from demo import BATCH, GRAPH, ROOT, Steps, model_folder
from demo_engines import TENON, Failed, Worker, has_package, save_batches, tenon
from demo_text import Encoder
from rich.console import Console
from rich.markup import escape

SOURCE = ROOT / "examples/plugins/gelu.c"
RULES = ROOT / "examples/plugins/gelu.rules"
FLAGS = ["-O3", "-march=native", "-shared", "-fPIC"]
SENTENCES = [
    "A plugin is one file of C, compiled by the system's own compiler.",
    "The dough rests overnight and goes into a hot oven in the morning.",
    "Engines keep the hash of each library, and refuse another build of it.",
    "Rain is expected in the north; the south stays dry until the weekend, and warm enough to sit outside after work.",
    "Her train left at nine.",
    "The function of a neuron is its input times the share of a normal distribution that lies below it.",
    "Nobody remembered who had planted the old pear tree behind the school.",
    "Four threads share out what one enqueue has to do.",
]
ROUNDS = 9
TOLERANCE = 2e-6  # of components of vectors of length one


class PluginDemo:
    def __init__(self, console: Console, work: Path, threads: int):
        self.steps, self.console, self.work, self.threads = Steps(console), console, work, threads
        self.weights = model_folder()
        self.library = work / "gelu.so"
        self.rewritten, self.own, self.by_plugin = work / "by_plugin.onnx", work / "own.tenon", work / "by_plugin.tenon"
        self.batches = work / "sentences.npz"

    def say(self, text: str = "") -> None:
        self.console.print(escape(text), highlight=False, soft_wrap=True)

    def run(self) -> None:
        self.compile_plugin()
        self.test()
        self.build()
        self.compare()
        self.break_it()

    def compile_plugin(self) -> None:
        with self.steps.step("compile the plugin") as says:
            command = compiled(SOURCE, self.library)
            says.append(f"{self.library.stat().st_size} bytes, by: {command}")

    def test(self) -> None:
        with self.steps.step("try it by itself, as `tenon plugin test` does") as says:
            checks = tenon("plugin", "test", self.library)["checks"]
            says.append(f"{len(checks)} checks find nothing")

    def build(self) -> None:
        with self.steps.step("put it where the model has a Gelu") as says:
            options = ["--external-data", self.weights, "--rules", RULES, "--only", "--plugin", self.library]
            report = tenon("rewrite", GRAPH, *options, "-o", self.rewritten)
            self.places = report["rewrites"]
            says.append(f"a rule finds {self.places} places; each becomes one node of the op demo::Gelu")
            if self.places == 0:
                raise Failed(f"{RULES.name} matches nowhere in {GRAPH.name}")
        with self.steps.step("compile the model, without and with the plugin") as says:
            reports = [
                tenon("build", GRAPH, "-o", self.own, "--external-data", self.weights),
                tenon("build", self.rewritten, "-o", self.by_plugin, "--plugin", self.library),
            ]
            says.append("{} and {} kernels of Tenon's".format(*(r["kernels"] for r in reports)))
            kept = tenon("inspect", self.by_plugin)["plugins"]
            says.append(f"the engine keeps the key {key_of(kept)} and the library's SHA-256 {kept[0]['sha256'][:16]}, no path")

    def compare(self) -> None:
        with self.steps.step("embed eight sentences with both, in turns") as says:
            save_batches(self.batches, Encoder(self.weights / "tokenizer.json").batches(SENTENCES, BATCH))
            workers = [self.worker(self.own), self.worker(self.by_plugin, self.library)]
            for worker in workers:
                worker.run(0)  # warm
            times = np.array([[worker.run(0) for worker in workers] for _ in range(ROUNDS)])
            own, plugin = (worker.embeddings(self.work / f"vectors_{k}.npy") for k, worker in enumerate(workers))
            for worker in workers:
                worker.close()
            self.difference = float(np.abs(own - plugin).max())
            if not self.difference <= TOLERANCE:
                raise Failed(f"the vectors differ by {self.difference:.1e}, more than {TOLERANCE:.0e}")
            says.append(f"the vectors are equal: no component differs by more than {self.difference:.1e}")
        own_ms, plugin_ms = np.median(times, axis=0)
        self.say(f"\n  Gelu inside Tenon's MatMul kernels   {own_ms:7.2f} ms for 8 sentences, {self.threads} threads, median of {ROUNDS}")
        self.say(f"  Gelu by the plugin                   {plugin_ms:7.2f} ms")
        self.say("  A plugin is a node of its own, whose operand and result lie in memory; Tenon's Gelu is part of a kernel.\n")

    def worker(self, engine: Path, library: Path | None = None) -> Worker:
        environment = {"PYTHONPATH": str(ROOT / "build/python"), "TENON_PLUGINS": str(library or "")}
        if not has_package(Path(sys.executable), environment):
            raise Failed("the Python package is not built: ./dev build tenon_python")
        return Worker(Path(sys.executable), "tenon", engine, self.batches, self.threads, environment)

    def break_it(self) -> None:
        self.say("Now the plugin is broken on purpose, three times.\n")
        self.wrong()
        self.other_build()
        self.failing()

    def wrong(self) -> None:
        wrong = self.work / "gelu_wrong.so"
        compiled(SOURCE, wrong, "-DBREAK=1")
        self.show("1. It multiplies by 0.4 where it should be 0.5. The kit holds it against its definition:", "plugin", "test", wrong)

    def other_build(self) -> None:
        title = "2. The engine was built with another library, and takes this one only where that is said:"
        run = ("run", self.by_plugin, "--input", self.arrays())
        self.show(title, *run, "--plugin", self.work / "gelu_wrong.so")

    def failing(self) -> None:
        failing = self.work / "gelu_failing.so"
        compiled(SOURCE, failing, "-DBREAK=2")
        title = "3. It fails in the middle of a run. The error says whose fault it is and what it was given:"
        run = ("run", self.by_plugin, "--input", self.arrays())
        self.show(title, *run, "--plugin", failing, "--plugin-any-build")
        tenon(*run, "--plugin", self.library)
        self.say("Nothing of the engine was touched: with the library that it was built with, it runs.")

    def arrays(self) -> Path:
        path = self.work / "inputs.npz"
        with np.load(self.batches) as stored:
            np.savez(path, input_ids=stored["ids_0"], attention_mask=stored["mask_0"])
        return path

    def show(self, title: str, *arguments: str | Path) -> None:
        """Runs what must fail, and shows what it says."""
        done = subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True)
        if done.returncode == 0:
            raise Failed(f"`tenon {arguments[0]}` takes a plugin that is broken")
        words = [Path(a).name if isinstance(a, Path) else a for a in arguments]
        self.console.print(f"[bold]{escape(title)}[/]\n[dim]$ tenon {escape(shlex.join(words))}[/]", highlight=False, soft_wrap=True)
        for line in (line for part in (done.stdout, done.stderr) for line in shortened(part)):
            self.say("  " + line)
        self.say()


def shortened(text: str, most: int = 8) -> list[str]:
    """Without table rows that say "good"."""
    lines = [line.replace(f"{ROOT}/", "") for line in text.splitlines() if line.strip() and not line.endswith("good")]
    return lines if len(lines) <= most else [*lines[:most], "..."]


def key_of(kept: list[dict]) -> str:
    return ", ".join(sorted({f"{k['name_space']}::{k['name']}" for k in kept}))


def compiled(source: Path, target: Path, *flags: str) -> str:
    """The command."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise Failed("there is no C compiler: cc compiles the plugin; on Debian it comes with the package gcc")
    command = ["cc", *FLAGS, f"-I{ROOT / 'include'}", *flags, str(source), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(command)}:\n{done.stderr.strip()}")
    return shlex.join([word.replace(f"{ROOT}/", "") for word in command])


def main() -> int:
    argparse.ArgumentParser(prog="./dev demo --plugin", description=__doc__).parse_args()
    console = Console()
    work = ROOT / "build/demo"
    work.mkdir(parents=True, exist_ok=True)
    try:
        PluginDemo(console, work, len(os.sched_getaffinity(0))).run()
    except Failed as problem:
        console.print(f"[red]{escape(str(problem))}[/]", highlight=False)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
