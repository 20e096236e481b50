# SPDX-License-Identifier: Apache-2.0
"""Writes docs/ops.md and docs/rules.md from the op and rule files, docs/performance.md from what `./dev bench` has measured, and
brings every quotation of code up to date.

A quotation is a block of code behind a line `<!-- from FILE -->` (the whole file) or `<!-- from FILE: 'TEXT' to 'TEXT' -->` (the
lines from the first that holds the one text to the next that holds the other; ^TEXT stands at the start of its line).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))
import page as performance  # noqa: E402

OPS, RULES = ROOT / "src/ops", ROOT / "src/rules"
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*')
NAMED_LIST = re.compile(r'\bStringList (k[A-Z]\w*)\s*=\s*((?:"(?:[^"\\]|\\.)*"|[^;"])*);')
QUOTATION = re.compile(r"(<!-- from ([^\s:]+)(?:: '([^']+)' to '([^']+)')? -->\n```\w*\n)(.*?)(\n```)", re.DOTALL)
WRITTEN = "<!-- Written by ./dev docs; edit the sources. -->\n"


def block_of(text: str, macro: str) -> str:
    """The text between the braces of `macro(name) {...};`, or of `macro(name) = family({...});`."""
    found = re.search(rf"^{macro}\(\w+\)(?: = [\w:<>]+\()?\s*(\{{.*?\n\}})\)?;", text, re.MULTILINE | re.DOTALL)
    return found.group(1)[:-2] if found else ""


def families() -> dict[str, dict[str, str]]:
    """The fields that functions fill in: `constexpr OpDef reduce_op(OpDef own) { own.outputs = {.array = literals<"reduced">}; ... }`."""
    out: dict[str, dict[str, str]] = {}
    for path in sorted(OPS.rglob("*.h")):
        text = path.read_text(encoding="utf-8")
        for name, body in re.findall(r"^constexpr OpDef (\w+)\(OpDef own\) \{\n(.*?)\n\}", text, re.MULTILINE | re.DOTALL):
            nested = re.search(r"return (\w+)\(own\);", body)
            fields = dict(re.findall(r'\bown\.(\w+) =\s+((?:"(?:[^"\\]|\\.)*"|[^;"])*);', body))
            out[name] = fields | (out[nested.group(1)] if nested else {}) | fields
    return out


def family_of(text: str, known: dict[str, dict[str, str]]) -> dict[str, str]:
    found = re.search(r"^OP\(\w+\) = (\w+)", text, re.MULTILINE)
    return known[found.group(1)] if found else {}


def field(block: str, name: str) -> str:
    """The text of a top-level field of an op, up to the next one."""
    indent = re.search(r"^ *(?=\.name\b)", block, re.MULTILINE)
    found = indent and re.search(rf"^{indent[0]}\.{name}\s*=\s*(.*?)(?=^{indent[0]}\.\w+\s*=|\Z)", block, re.MULTILINE | re.DOTALL)
    return found.group(1).strip().rstrip(",") if found else ""


def strings(text: str) -> list[str]:
    """The contents of string literals; adjacent ones are joined."""
    return ["".join(STRING.findall(literal)) for literal in LITERAL.findall(text)]


def shared_lists() -> dict[str, str]:
    """Lists that several ops share: kConvAttributes and the like."""
    return {name: body for path in sorted(OPS.rglob("*.h")) for name, body in NAMED_LIST.findall(path.read_text(encoding="utf-8"))}


def operand_list(text: str, shared: dict[str, str]) -> list[str]:
    """The strings of literals<"these">, kThose, concatenated<kSome, literals<"more">>."""
    parts = re.findall(rf"{LITERAL.pattern}|\bk[A-Z]\w+", text)
    return [item for part in parts for item in strings(part if part.startswith('"') else shared[part])]


# What tells the class of a loop form; tests/ops/docs.cpp compares the page with the forms themselves.
CONTRACT = re.compile(r"\b(contraction_form|conv_loop|matmul_loop)\b")
ROW = re.compile(
    r"\b(form_of_reduce|softmax_form|cumulative_form|arg_form|pool_loop|form_of_\w*(?:pool|sum)|add_statistics|add_root_mean_square|reduce_rows|Kind::(reduced|scanned))\b"
)

OTHERWISE = {"Col2Im": "row", "DeformConv": "contract", "MaxPool": "row"}  # where the words mislead


def runs_as(name: str, text: str, has) -> str:
    """map, row or contract where the op has a loop form; else definition, control or reference."""
    if has("loop_form"):
        return OTHERWISE.get(name) or ("contract" if CONTRACT.search(text) else "row" if ROW.search(text) else "map")
    if has("definition"):
        return "definition"
    return "control" if has("control") else "reference"


def op_row(path: Path, shared: dict[str, str], known: dict[str, dict[str, str]]) -> tuple[str, str] | None:
    text = path.read_text(encoding="utf-8")
    block, family = block_of(text, "OP"), family_of(text, known)
    lists = shared | dict(NAMED_LIST.findall(text))

    def said(name: str) -> str:
        return field(block, name) or family.get(name, "")

    names = strings(said("name"))
    if not names:
        return None
    domain = strings(said("domain"))
    name = f"{domain[0]}::{names[0]}" if domain and domain[0] else names[0]
    first, since = said("first_opset") or "1", said("since_version") or "1"
    operands = ", ".join(operand_list(said("inputs"), lists))
    attributes = ", ".join(a.split(":")[0] for a in operand_list(said("attributes"), lists))
    samples = len(operand_list(said("samples"), lists))
    kind = runs_as(name, text, said)
    opsets = f"{first} to {max(int(first), int(since))}" if first.isdigit() and since.isdigit() else first
    link = f"[{name}](../{path.relative_to(ROOT)})"
    return name.lower(), f"| {link} | {kind} | {opsets} | {operands} | {attributes} | {samples} |"


def ops_page() -> str:
    shared, known = shared_lists(), families()
    rows = [row for path in sorted(OPS.rglob("*.cpp")) if (row := op_row(path, shared, known))]
    out = [
        "# Ops\n",
        WRITTEN,
        f"{len(rows)} ops, one file each in the folders of `src/ops/`, by family. Opsets: from the first that has the op to the newest;",
        "older ones are adapted. `?`: optional, `*`: variadic operand. How to add one: [add-an-op.md](add-an-op.md).\n",
        "Runs as `map`, `row` or `contract`: generated code of that kernel family, from the loop form; `definition`: the plain ops that",
        "it is defined by; `control`: its bodies, as control flow; `reference`: its reference function. Which ops with floating-point",
        "results run by reference, and why: [opaque-ops.md](opaque-ops.md).\n",
        "| op | runs as | opsets | operands | attributes | samples |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(out + [row[1] for row in sorted(rows)]) + "\n"


def rule_items(block: str) -> list[str]:
    """The rules of a file, each as the text between its braces."""
    items = []
    for start in re.finditer(r"\{\s*\.name\s*=", block):
        depth, at, quoted = 0, start.start(), False
        while True:
            c = block[at]
            if c == '"' and block[at - 1] != "\\":
                quoted = not quoted
            elif not quoted:
                depth += (c == "{") - (c == "}")
            at += 1
            if depth == 0:
                break
        items.append(block[start.start() : at])
    return items


def value_of(item: str, name: str) -> str:
    """A field of a rule: adjacent strings joined, or the word."""
    found = re.search(rf'\.{name}\s*=\s*((?:"(?:[^"\\]|\\.)*"\s*)+|[\w:]+)', item)
    if not found:
        return ""
    text = found.group(1)
    return "".join(strings(text)) if text.startswith('"') else text.strip()


def rule_lines(item: str, sets: str) -> list[str]:
    numerics = value_of(item, "numerics").split("::")[-1] or "exact"
    lines = [f"- **{value_of(item, 'name')}** ({numerics}; {', '.join(sets.split())}): {value_of(item, 'docs')}"]
    equation = " ".join(value_of(item, "equation").replace('\\"', '"').split())
    if equation and len(equation) <= 130:
        lines.append(f"  <br>`{equation}`")
    elif roots := value_of(item, "roots"):
        lines.append(f"  <br>starts at {', '.join(roots.split())}")
    return lines


def sets_of(item: str, block: str) -> str:
    """The sets that a rule is in: its own, else its file's, else `tenon`."""
    before = block[: block.find(".rules")]
    return value_of(item, "sets") or value_of(before, "sets") or "tenon"


def patterns_without_rule() -> dict[str, str]:
    """Patterns of yobx that need no rule here, and the part of the compiler that makes each unnecessary."""
    path = ROOT / "tests/rules/patterns_without_rule.h"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(re.findall(r'\{\s*"(\w+)",\s*"([^"]+)"\s*\}', text))


def pattern_table(title: str, array: str, covers: dict[str, list[str]]) -> list[str]:
    """One row for each pattern of a yobx set: its name, what it does, and the rules here that cover it."""
    text = (ROOT / "tests/rules/yobx_patterns.cpp").read_text(encoding="utf-8")
    entries = re.findall(r'\{"(\w+)", "([^"]+)"\}', block_between(text, f"{array}[] = {{", "};"))
    instead = patterns_without_rule()
    rows = [
        f"| {name} | {meaning} | {', '.join(covers.get(name, [])) or instead.get(name, 'not supported yet')} |" for name, meaning in entries
    ]
    return [f"\n### {title}\n", "| pattern | what it does | rules here |", "|---|---|---|", *rows]


def block_between(text: str, first: str, last: str) -> str:
    begin = text.index(first)
    return text[begin : text.index(last, begin)]


def rules_page() -> str:
    sections, count = [], 0
    covers: dict[str, list[str]] = {}
    for path in sorted(RULES.rglob("*.cpp"), key=lambda path: (path.stem, path.relative_to(RULES).parts[0])):
        block = block_of(path.read_text(encoding="utf-8"), "RULES")
        items = rule_items(block)
        if not items:
            continue
        count += len(items)
        name = f"{path.relative_to(RULES).parts[0]}/{path.stem}"
        sections.append(f"\n## {name}\n\n[Source](../{path.relative_to(ROOT)}).\n")
        for item in items:
            sections += rule_lines(item, sets_of(item, block))
            for seed in value_of(item, "covered_patterns").split():
                covers.setdefault(seed, []).append(f"[{value_of(item, 'name')}](#{name.replace('/', '')})")
    head = [
        "# Rules\n",
        WRITTEN,
        f"{count} rewrites. `exact`: bit for bit. `reassociating`: the same real function, rounded in another order; on by default.",
        "`approximate`: never on by default. Folders are stages: `clean` makes graphs smaller and plainer, `fuse` finds one op in many,",
        "`trim` leaves out elements that no node reads, `combine` joins fused ops, `onnxruntime` rewrites to ops of that runtime.",
        "Sets: `tenon` is what the model pipeline uses; `default` and `onnxruntime` do what yobx's sets of these names do (the",
        "[tables](#patterns-of-yobx) list the rules that cover each); `canonical` gives one spelling to each thing and is confluent: in",
        "any order of its rules the result is the same graph. `onnxruntime_cuda` and `onnxruntime_other` write ops that ONNX Runtime has",
        "kernels for on CUDA, or on neither CUDA nor CPU; `ml` joins ensembles of trees.",
        "How to add one: [add-a-rule.md](add-a-rule.md).",
    ]
    tail = [
        "\n## Patterns of yobx\n",
        "Patterns of [yobx](https://github.com/xadupre/yet-another-onnx-builder) by their names there; `--rules` takes these names too.",
        *pattern_table("default", "kDefault", covers),
        *pattern_table("onnxruntime", "kOnnxRuntime", covers),
        *pattern_table("by name alone", "kOther", covers),
    ]
    return "\n".join(head + sections + tail) + "\n"


def holds(line: str, text: str) -> bool:
    return line.startswith(text[1:]) if text.startswith("^") else text in line


def quoted(name: str, first: str | None, last: str | None) -> str:
    """The lines of the file that a quotation names."""
    lines = (ROOT / name).read_text(encoding="utf-8").rstrip("\n").splitlines()
    if first is None:
        return "\n".join(lines)
    begin = next((k for k, line in enumerate(lines) if holds(line, first)), None)
    end = next((k for k, line in enumerate(lines) if begin is not None and k >= begin and holds(line, last)), None)
    if begin is None or end is None:
        raise SystemExit(f"{name} has no lines from {first!r} to {last!r}; a page quotes them")
    return "\n".join(lines[begin : end + 1])


def with_quotations(page: Path) -> str:
    return QUOTATION.sub(lambda m: m.group(1) + quoted(*m.group(2, 3, 4)) + m.group(6), page.read_text(encoding="utf-8"))


def pages() -> dict[Path, str]:
    """Every page that is generated or has quotations, with its new text."""
    written = {ROOT / "docs/ops.md": ops_page(), ROOT / "docs/rules.md": rules_page(), performance.PAGE: performance.current()}
    hand = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return written | {page: with_quotations(page) for page in hand if page not in written and page.exists()}


def main() -> int:
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(ROOT)} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
