# SPDX-License-Identifier: Apache-2.0
"""Writes the expected outputs of template_test.cpp with Jinja2 3, set up as transformers sets it up.

python make_expected.py   in an environment with jinja2; writes conversations.json and expressions.json
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).resolve().parent
NOW = datetime.datetime(2025, 7, 30, 18, 26, 40)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("text_of"), [], [], body).set_lineno(line)

    def text_of(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment() -> ImmutableSandboxedEnvironment:
    out = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    out.filters["tojson"] = tojson
    out.globals["raise_exception"] = raise_exception
    out.globals["strftime_now"] = NOW.strftime
    return out


def rendered(template: str, context: dict) -> str | None:
    """None: an error."""
    try:
        return environment().from_string(template).render(**context)
    except Exception:
        return None


def main() -> None:
    chats = json.loads((HERE / "chats.json").read_text(encoding="utf-8"))
    out = {
        path.stem: [rendered(path.read_text(encoding="utf-8"), chat) for chat in chats] for path in sorted(HERE.glob("templates/*.jinja"))
    }
    (HERE / "chats_expected.json").write_text(json.dumps(out, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    cases = json.loads((HERE / "expressions.json").read_text(encoding="utf-8"))
    for case in cases["cases"]:
        case[1:] = [rendered(case[0], cases["context"])]
    text = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases["cases"])
    context = json.dumps(cases["context"], ensure_ascii=False)
    (HERE / "expressions.json").write_text(f'{{"context": {context},\n"cases": [\n{text}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
