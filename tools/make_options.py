# SPDX-License-Identifier: Apache-2.0
"""Reads the table of compile options, the struct CompileOptions of include/tenon/compile_options.h, and writes what follows from it: rows
for C++ (src/compiler/options/option_table.h), and the types of Python's keyword arguments.

make_options.py COMPILE_OPTIONS.h OUT.inc OUT.pyi
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
ENUM = re.compile(r"^enum class (\w+) : uint8_t \{ (.*?) \};", re.MULTILINE)
LITERAL = r'"(?:[^"\\]|\\.)*"'
# Doc comment, TENON_OPTION(attributes), type, name, " = default" or "{default}"; all but type and name may be missing.
FIELD = re.compile(
    rf"^((?:  ///.*\n)*)(?:  TENON_OPTION\(((?:{LITERAL}|[^\"()])*)\)\n)?"
    r"  ([\w:]+(?:<[^;\n]*>)?) (\w+)(?: = ([^;\n]*)|(\{[^;\n]*\}))?;$",
    re.MULTILINE,
)
ATTRIBUTE = re.compile(rf"\s*(\w+)(?:\s*=\s*((?:{LITERAL}\s*)+|-?\d+))?\s*(,|$)")
TEXTS = {"cli", "help", "group", "python", "python_docs", "compiler", "problem", "advice"}
NUMBERS = {"least", "most"}
MARKS = {"cli", "python", "torch", "compiler", "pass", "saving", "running"}
NAMES = "std::vector<std::string>"
# By C++ type: the annotation in Python, and the default there where the field's own is {}.
HINTS = {
    "bool": ("bool", ""),
    "int": ("int", ""),
    "int64_t": ("int", ""),
    "uint64_t": ("int", ""),
    "double": ("float", ""),
    "std::string": ("str", '""'),
    "std::optional<int64_t>": ("int | None", "None"),
    "std::filesystem::path": ("str | PathLike[str] | None", "None"),
    "std::chrono::milliseconds": ("float", ""),
    "std::vector<std::string>": ("Sequence[str]", "()"),
    "std::vector<std::filesystem::path>": ("Sequence[str | PathLike[str]]", "()"),
    "BuildConfigSource": ("BuildConfig | str | PathLike[str] | None", "None"),
    "std::vector<Pin>": ("Mapping[str, str]", "{}"),
    "std::map<DType, DType>": ("Mapping[str, str]", "{}"),
    "std::map<std::string, int64_t>": ("Mapping[str, int]", "{}"),
    "std::map<std::string, int32_t>": ("Mapping[str, int]", "{}"),
    "std::map<std::string, std::filesystem::path>": ("Mapping[str, str | PathLike[str]]", "{}"),
    "std::map<std::string, InputRange>": ("Mapping[str, Sequence[int | tuple[int, int, int]]]", "{}"),
}


@dataclass
class Option:
    path: str
    """As C++ reaches it: "opt", "libraries.files"."""
    type: str
    default: str
    docs: str
    attributes: dict[str, str | int | bool]
    choices: list[str] = field(default_factory=list)
    """Of an enumeration: its enumerators."""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    def has(self, attribute: str) -> bool:
        return attribute in self.attributes

    def text(self, attribute: str) -> str:
        given = self.attributes.get(attribute, "")
        return given if isinstance(given, str) else ""

    @property
    def keyword(self) -> str:
        return self.text("python") or self.name

    @property
    def flag(self) -> str:
        """With the name of its value, if any: "--pin NAME=BACKEND"."""
        if not self.has("cli"):
            return ""
        return self.text("cli") or ("--no-" if self.default == "true" else "--") + self.name.replace("_", "-")

    @property
    def help(self) -> str:
        return self.text("help") or (self.docs[:1].lower() + self.docs[1:]).removesuffix(".")

    @property
    def compiler_type(self) -> str:
        """Its type in compiler::CompileOptions; empty: it is not a field there."""
        return self.text("compiler") or (self.type if self.has("compiler") or self.has("pass") else "")

    @property
    def hint(self) -> str:
        if self.choices:
            return f"Literal[{', '.join(map(json.dumps, self.choices))}]"
        return HINTS[self.type][0]

    @property
    def python_default(self) -> str:
        if self.choices:
            return json.dumps(self.default.rpartition("::")[2])
        if self.type == "std::chrono::milliseconds":
            return str(int(self.default.strip("{}").replace("'", "")) / 1000)
        return {"true": "True", "false": "False", "{}": HINTS[self.type][1]}.get(self.default, self.default)


def fail(what: str) -> None:
    sys.exit(f"make_options.py: {what}")


def attributes_of(name: str, text: str) -> dict[str, str | int | bool]:
    """`cli = "--opt", python, least = 0` -> {"cli": "--opt", "python": True, "least": 0}."""
    out: dict[str, str | int | bool] = {}
    at = 0
    while at < len(text):
        found = ATTRIBUTE.match(text, at)
        if not found:
            fail(f"option '{name}': cannot read the attributes from '{text[at:].strip()}' on")
        key, value, _ = found.groups()
        kinds = NUMBERS if value and value[0] != '"' else TEXTS if value else MARKS
        if key not in kinds:
            fail(f"option '{name}': attribute '{key}' is none of {', '.join(sorted(kinds))}")
        out[key] = "".join(map(json.loads, re.findall(LITERAL, value))) if kinds is TEXTS else int(value) if value else True
        at = found.end()
    return out


def options_of(struct: str, structs: dict[str, str], enums: dict[str, list[str]], prefix: str = "") -> list[Option]:
    """The annotated fields of a struct and, in place of a field that is a struct with such, that one's."""
    out = []
    for docs, attributes, kind, name, default, braces in FIELD.findall(structs[struct]):
        if kind in structs and "TENON_OPTION(" in structs[kind]:
            out += options_of(kind, structs, enums, f"{prefix}{name}.")
        if attributes:
            lines = [line.strip().removeprefix("///").strip() for line in docs.splitlines()]
            out.append(Option(prefix + name, kind, default or braces or "{}", " ".join(lines), attributes_of(name, attributes)))
            out[-1].choices = enums.get(kind, [])
    return out


def enumerators(name: str, text: str) -> list[str]:
    """Of "f32 = 0, bf16 = 1": an index in the list is an enumerator's value."""
    pairs = [entry.split(" = ") for entry in text.split(", ")]
    if [pair[1:] for pair in pairs] != [[str(k)] for k in range(len(pairs))]:
        fail(f"enum '{name}': the values are not 0, 1, ...")
    return [pair[0] for pair in pairs]


def read(header: str) -> list[Option]:
    structs = dict(STRUCT.findall(header))
    options = options_of("CompileOptions", structs, {name: enumerators(name, text) for name, text in ENUM.findall(header)})
    if len(options) != len(re.findall(r"^  TENON_OPTION\(", header, re.MULTILINE)):
        fail("an option is no doc comment, TENON_OPTION(...) and `type name = default;` on lines of their own")
    for option in options:
        if not option.docs:
            fail(f"option '{option.name}' has no documentation")
        if option.has("python") and not option.choices and option.type not in HINTS:
            fail(f"option '{option.name}': type {option.type} is none of {', '.join(HINTS)}")
    return options


def literal(text: str) -> str:
    """A C++ string literal; JSON's escapes are C++'s."""
    return json.dumps(text, ensure_ascii=False).replace("??", '?""?')


def row(option: Option) -> str:
    """The designated initialisers of an OptionRow."""
    flag, _, value = option.flag.partition(" ")
    fields = {"name": literal(option.path), "flag": literal(flag), "value": literal(value), "help": literal(option.help)}
    fields |= {key: literal(option.text(key)) for key in ("group", "problem", "advice") if option.has(key)}
    fields |= {key: str(option.attributes[key]) for key in ("least", "most") if option.has(key)}
    fields |= {key: "true" for key in ("saving", "running") if option.has(key)}
    if option.compiler_type:
        fields["scalar"] = "true"
    if option.choices:
        fields["choices"] = literal(" ".join(option.choices))
    order = ("name", "flag", "value", "help", "group", "choices", "scalar", "saving", "running", "least", "most", "problem", "advice")
    return f"TENON_OPTION_ROW({', '.join(f'.{key} = {fields[key]}' for key in order if key in fields)})"


def signature(function: str, result: str, options: list[Option], more: str = "") -> str:
    keywords = "".join(f", {option.keyword}: {option.hint} = {option.python_default}" for option in options)
    return f"TENON_PYTHON_SIGNATURE({function}, {literal(f'def {function}(model: object, *{keywords}{more}) -> {result}')})"


def cpp(options: list[Option]) -> str:
    """One list a macro; macros that the includer does not define are empty, and all are undefined at the end."""
    rows: list[str] = []
    for o in options:
        rows.append(row(o))
        if o.compiler_type:
            default = o.default if not o.choices else f"{o.compiler_type}::{o.default.rpartition('::')[2]}"
            rows.append(f"TENON_SCALAR_OPTION({o.compiler_type}, {o.name}, {default})")
            rows += [f"TENON_SAME_ENUMERATOR({o.type}, {o.compiler_type}, {choice})" for choice in o.choices]
        rows += [f"TENON_PASS_OPTION({o.name})"] if o.has("pass") else []
        rows += [f"TENON_BOUNDED_OPTION({o.path})"] if o.has("least") or o.has("most") else []
        if o.has("python"):
            rows.append(f"TENON_PYTHON_OPTION({o.keyword}, {o.path}, {literal(o.hint)}, {str(o.has('saving')).lower()})")
        rows += [f"TENON_TORCH_OPTION({o.keyword})"] if o.has("torch") else []
    python = [o for o in options if o.has("python")]
    rows.append(signature("compile", "Engine", python))
    rows.append(signature("partition", "dict", [o for o in python if not o.has("saving")], ", dry_run: bool = False"))
    rows.sort(key=lambda line: line.partition("(")[0])  # stable: in the order of the table
    macros = (
        "BOUNDED_OPTION",
        "OPTION_ROW",
        "PASS_OPTION",
        "PYTHON_OPTION",
        "PYTHON_SIGNATURE",
        "SAME_ENUMERATOR",
        "SCALAR_OPTION",
        "TORCH_OPTION",
    )
    empty = [f"#ifndef TENON_{m}\n#define TENON_{m}(...)\n#endif" for m in macros]
    lines = ["// Written by tools/make_options.py.", *empty, *rows, *(f"#undef TENON_{m}" for m in macros)]
    return "\n".join(lines) + "\n"


def typed_dict(name: str, base: str, docs: str, options: list[Option]) -> str:
    lines = [f"class {name}({base}, total=False):", f'    """{docs}"""', ""]
    for o in options:
        text = f"{o.text('python_docs') or o.docs} Default: {o.python_default}.".replace("\\", "\\\\")
        lines += [f"    {o.keyword}: {o.hint}", f'    """{text}"""']
    return "\n".join(lines) + "\n"


def stub(options: list[Option]) -> str:
    python = [o for o in options if o.has("python")]
    header = "# SPDX-License-Identifier: Apache-2.0\n# Written by tools/make_options.py.\n"
    imports = "from collections.abc import Mapping, Sequence\nfrom os import PathLike\nfrom typing import Literal, TypedDict\n\n"
    if any("BuildConfig" in o.hint for o in python):
        imports += "from ._build_config import BuildConfig\n\n"
    classes = [
        typed_dict("PartitionOptions", "TypedDict", "Keyword arguments of tenon.partition.", [o for o in python if not o.has("saving")]),
        typed_dict("CompileOptions", "PartitionOptions", "Keyword arguments of tenon.compile.", [o for o in python if o.has("saving")]),
        typed_dict(
            "EngineOptions",
            "TypedDict",
            "Keyword arguments of tenon.torch.compile that each engine is compiled with.",
            [o for o in python if o.has("torch")],
        ),
    ]
    return header + imports + "\n".join(classes)


def main() -> None:
    source, inc, pyi = map(Path, sys.argv[1:])
    options = read(source.read_text(encoding="utf-8"))
    for out, text in ((inc, cpp(options)), (pyi, stub(options))):
        out.parent.mkdir(parents=True, exist_ok=True)
        if not out.exists() or out.read_text(encoding="utf-8") != text:
            out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
