# SPDX-License-Identifier: Apache-2.0
"""ONNX messages as bytes, written by hand: nothing here refuses to say what is wrong. Field numbers are those of onnx.proto."""

from __future__ import annotations

F32, I64, STRING = 1, 7, 8


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def message(field: int, *parts: bytes) -> bytes:
    return text(field, b"".join(parts))


def dimension(size: int | str | None) -> bytes:
    return b"" if size is None else number(1, size) if isinstance(size, int) else text(2, size)


def tensor_type(shape: list[int | str | None] | None, dtype: int = F32) -> bytes:
    sizes = b"" if shape is None else message(2, *(message(1, dimension(d)) for d in shape))
    return message(1, number(1, dtype), sizes)


def sequence_of(inner: bytes) -> bytes:
    return message(4, message(1, inner))


def optional_of(inner: bytes) -> bytes:
    return message(9, message(1, inner))


def map_of(key: int, inner: bytes) -> bytes:
    return message(5, number(1, key), message(2, inner))


def typed(name: str, type_proto: bytes) -> bytes:
    return text(1, name) + message(2, type_proto)


def value_info(name: str, shape: list[int | str | None] | None, dtype: int = F32) -> bytes:
    return typed(name, tensor_type(shape, dtype))


def tensor(name: str, dims: list[int], raw: bytes | None = None, dtype: int = F32, extra: bytes = b"") -> bytes:
    return b"".join(number(1, d) for d in dims) + number(2, dtype) + text(8, name) + (b"" if raw is None else text(9, raw)) + extra


def external(name: str, dims: list[int], entries: dict[str, str], dtype: int = F32) -> bytes:
    pairs = b"".join(message(13, text(1, key), text(2, value)) for key, value in entries.items())
    return tensor(name, dims, dtype=dtype, extra=pairs + number(14, 1))


def attribute_int(name: str, value: int) -> bytes:
    return message(5, text(1, name), number(3, value), number(20, 2))


def attribute_ints(name: str, values: list[int]) -> bytes:
    return message(5, text(1, name), *(number(8, v) for v in values), number(20, 7))


def attribute_graph(name: str, body: bytes) -> bytes:
    return message(5, text(1, name), text(6, body), number(20, 5))


def attribute_tensor(name: str, value: bytes) -> bytes:
    return message(5, text(1, name), text(5, value), number(20, 4))


def node(op: str, inputs: list[str], outputs: list[str], *attributes: bytes, name: str = "", domain: str = "") -> bytes:
    named = text(3, name or f"{op.lower()}_{outputs[0] if outputs else ''}")
    ends = b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs)
    return ends + named + text(4, op) + (text(7, domain) if domain else b"") + b"".join(attributes)


def graph(
    nodes: list[bytes], inputs: list[bytes] = (), outputs: list[bytes] = (), initializers: list[bytes] = (), infos: list[bytes] = ()
) -> bytes:
    parts = [message(1, n) for n in nodes] + [text(2, "g")] + [message(5, t) for t in initializers]
    return b"".join(parts + [message(11, i) for i in inputs] + [message(12, o) for o in outputs] + [message(13, v) for v in infos])


def function(name: str, inputs: list[str], outputs: list[str], nodes: list[bytes], domain: str = "own", opset: int = 21) -> bytes:
    ends = b"".join(text(4, i) for i in inputs) + b"".join(text(5, o) for o in outputs)
    return text(1, name) + ends + b"".join(message(7, n) for n in nodes) + message(9, number(2, opset)) + text(10, domain)


def model(body: bytes, opset: int = 21, ir: int = 10, functions: list[bytes] = ()) -> bytes:
    own = message(8, text(1, "own"), number(2, 1)) if functions else b""
    return (
        number(1, ir) + text(2, "tests") + text(7, body) + message(8, number(2, opset)) + own + b"".join(message(25, f) for f in functions)
    )


def chain(nodes: list[bytes], output: str = "y", initializers: list[bytes] = (), **options) -> bytes:
    """A model of the input x: f32[n,4] and one output."""
    return model(graph(nodes, [value_info("x", ["n", 4])], [value_info(output, None)], initializers), **options)


def small_model() -> bytes:
    """y = relu(x @ w + b), with x: f32[n,4], w: f32[4,3]."""
    weights = bytes(range(48)).replace(b"\xff", b"\0")
    nodes = [node("MatMul", ["x", "w"], ["h"]), node("Add", ["h", "b"], ["s"]), node("Relu", ["s"], ["y"])]
    return chain(nodes, initializers=[tensor("w", [4, 3], weights), tensor("b", [3], bytes(12))])
