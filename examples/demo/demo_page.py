# SPDX-License-Identifier: Apache-2.0
"""The demo's page: one self-contained HTML file."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1c2230; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; border-bottom: 1px solid #d6dbe4; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { background: #4878cf; height: .8rem; display: inline-block; min-width: 1px; }
iframe { width: 100%; height: 85vh; border: 1px solid #d6dbe4; } .quiet { color: #5f6b7f; }
blockquote { border-left: 3px solid #4878cf; margin-left: 0; padding-left: 1rem; }
@media (prefers-color-scheme: dark) { body { background: #14171d; color: #dde3ee; }
  h2, iframe { border-color: #333b49; } a { color: #7aa7ff; } }
"""


@dataclass
class Page:
    title: str
    facts: list[tuple[str, str]] = field(default_factory=list)
    steps: list[tuple[str, float]] = field(default_factory=list)
    question: str = ""
    answers: list[tuple[float, str, str]] = field(default_factory=list)
    kernels: list[dict] = field(default_factory=list)
    kernel_title: str = "Time per kernel"
    graph: str = ""  # a page of its own, as `tenon bench --html` writes it
    graph_file: str = ""  # file name of that page in the same folder


def table(rows: list[list[str]], numbers: set[int]) -> str:
    def cell(tag: str, k: int, text: str) -> str:
        return f'<{tag} class="n">{text}</{tag}>' if k in numbers else f"<{tag}>{text}</{tag}>"

    head, *body = rows
    out = ["<table><tr>" + "".join(cell("th", k, html.escape(t)) for k, t in enumerate(head)) + "</tr>"]
    out += ["<tr>" + "".join(cell("td", k, t) for k, t in enumerate(row)) + "</tr>" for row in body]
    return "\n".join(out) + "</table>"


def kernel_rows(kernels: list[dict]) -> list[list[str]]:
    """One row a label, the slowest first: equal layers of a model share theirs."""
    sums: dict[str, list[float]] = {}
    for k in kernels:
        entry = sums.setdefault(k["label"], [0, 0.0, 0.0])
        entry[0] += k.get("calls", 1)
        entry[1] += k["ms"]
        entry[2] += k.get("gflops", 0) * k["ms"]
    total = sum(e[1] for e in sums.values()) or 1.0
    rows = [["kernel", "calls", "ms", "share", "GFLOP/s", ""]]
    for name, (calls, ms, work) in sorted(sums.items(), key=lambda item: -item[1][1]):
        rate = f"{work / ms:.0f}" if work and ms else ""
        bar = f'<span class="bar" style="width:{ms / total * 20:.2f}rem"></span>'
        rows.append([html.escape(name), f"{calls:.0f}", f"{ms:.3f}", f"{100 * ms / total:.1f} %", rate, bar])
    return rows


def sections(page: Page) -> list[str]:
    out = [f"<h1>{html.escape(page.title)}</h1>"]
    out.append(table([["", ""], *[[html.escape(a), html.escape(b)] for a, b in page.facts]], {1}))
    if page.question:
        out.append(f"<h2>Question</h2><p><b>{html.escape(page.question)}</b></p>")
        for score, place, text in page.answers:
            out.append(f'<blockquote>{html.escape(text)}<br><span class="quiet">{html.escape(place)}, {score:.3f}</span></blockquote>')
    out.append("<h2>Steps</h2>" + table([["step", "s"], *[[html.escape(n), f"{s:.2f}"] for n, s in page.steps]], {1}))
    if page.kernels:
        out.append(f"<h2>{html.escape(page.kernel_title)}</h2>" + table(kernel_rows(page.kernels), {1, 2, 3, 4}))
    if page.graph:
        out.append(
            '<h2>The graph, before and after</h2><p class="quiet">Click a layer to open it, a node to see what it is; after a click '
            f'the wheel zooms. <a href="{html.escape(page.graph_file)}">In a window of its own</a></p>'
            f'<iframe title="the graph before and after" srcdoc="{html.escape(page.graph)}"></iframe>'
        )
    return out


def write_page(page: Page, path: Path) -> None:
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(page.title)}</title><style>{STYLE}</style>'
    path.write_text(head + "\n".join(sections(page)) + "</html>\n", encoding="utf-8")
