# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file again, its Q4_1 tensors as Q4_0: PyPI `gguf` decodes and quantizes them. All else stays as it is."""

from __future__ import annotations

import os
import sys

import gguf
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType


def copy_metadata(reader: GGUFReader, writer: GGUFWriter) -> None:
    """All but what the writer says itself; the type of the file is Q4_0."""
    for field in reader.fields.values():
        if field.name != gguf.Keys.General.ARCHITECTURE and not field.name.startswith("GGUF."):
            kind = field.types[0]
            value = LlamaFileType.MOSTLY_Q4_0 if field.name == gguf.Keys.General.FILE_TYPE else field.contents()
            writer.add_key_value(field.name, value, kind, field.types[-1] if kind == GGUFValueType.ARRAY else None)


def requantize(source: str, target: str) -> None:
    """The file appears whole."""
    reader = GGUFReader(source)
    partial = f"{target}.{os.getpid()}"
    writer = GGUFWriter(partial, reader.fields[gguf.Keys.General.ARCHITECTURE].contents())
    copy_metadata(reader, writer)
    for tensor in reader.tensors:
        data, kind = tensor.data, tensor.tensor_type
        if kind == GGMLQuantizationType.Q4_1:
            data, kind = gguf.quants.quantize(gguf.quants.dequantize(data, kind), GGMLQuantizationType.Q4_0), GGMLQuantizationType.Q4_0
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(partial, target)


if __name__ == "__main__":
    requantize(*sys.argv[1:])
