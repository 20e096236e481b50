# SPDX-License-Identifier: Apache-2.0
"""ONNX files that packages on PyPI ship: fetched with pip, and sample inputs drawn for them. Nothing of them is kept here."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy

Arrays = dict[str, numpy.ndarray]


def noise(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(sum(shape)).standard_normal(shape, numpy.float32)


def pixels(*shape: int) -> numpy.ndarray:
    return numpy.random.default_rng(sum(shape)).random(shape, numpy.float32)


def page(height: int, width: int) -> numpy.ndarray:
    """Something like two lines of writing, as the OCR's package normalises it: paper 1, ink -1."""
    image = numpy.ones((1, 3, height, width), numpy.float32)
    strokes = numpy.random.default_rng(width).random((2, width // 3)) < 0.5
    for line, row in zip(strokes, (height // 5, 3 * height // 5)):
        image[..., row : row + height // 5, : 3 * len(line)] -= 2 * numpy.repeat(line, 3)
    return image + 0.01 * noise(*image.shape)


def wave(*shape: int) -> numpy.ndarray:
    """Three tones and a little noise."""
    time = numpy.arange(shape[-1]) / 16000
    tones = sum(numpy.sin(2 * numpy.pi * pitch * time) / 4 for pitch in (140.0, 420.0, 1900.0))
    return (tones + 0.02 * noise(*shape)).astype(numpy.float32)


def text_bytes(*shape: int) -> numpy.ndarray:
    drawn = numpy.random.default_rng(0).integers(32, 127, shape)
    drawn[:, -300:] = 256  # magika's padding
    return drawn.astype(numpy.int32)


@dataclass
class Packaged:
    name: str
    package: str  # as pip takes it
    path: str  # inside the wheel
    samples: tuple[Arrays, ...]


def vad(batch: int, samples: int, rate: int) -> Arrays:
    return {"input": wave(batch, samples), "state": 0.1 * noise(2, batch, 128), "sr": numpy.array(rate, numpy.int64)}


OCR = "rapidocr_onnxruntime/models/"
PACKAGED = (
    Packaged("silero_vad", "silero-vad==6.2.3", "silero_vad/data/silero_vad.onnx", (vad(1, 576, 16000), vad(2, 288, 8000))),
    Packaged("silero_vad_op15", "silero-vad==6.2.3", "silero_vad/data/silero_vad_16k_op15.onnx", (vad(1, 576, 16000), vad(3, 576, 16000))),
    Packaged("silero_vad_op18", "silero-vad==6.2.3", "silero_vad/data/silero_vad_op18_ifless.onnx", (vad(1, 576, 16000),)),
    Packaged(
        "silero_vad_v6",
        "faster-whisper==1.2.1",
        "faster_whisper/assets/silero_vad_v6.onnx",
        tuple({"input": wave(count, 576), "h": 0.1 * noise(1, 1, 128), "c": 0.1 * noise(1, 1, 128)} for count in (4, 9)),
    ),
    Packaged("magika", "magika==1.0.3", "magika/models/standard_v3_3/model.onnx", tuple({"bytes": text_bytes(n, 2048)} for n in (1, 3))),
    Packaged("ocr_find", "rapidocr-onnxruntime==1.4.4", OCR + "ch_PP-OCRv4_det_infer.onnx", tuple({"x": page(64, w)} for w in (96, 128))),
    Packaged(
        "ocr_read",
        "rapidocr-onnxruntime==1.4.4",
        OCR + "ch_PP-OCRv4_rec_infer.onnx",
        tuple({"x": noise(n, 3, 48, 40 + 40 * n)} for n in (1, 2)),
    ),
    Packaged(
        "ocr_turn",
        "rapidocr-onnxruntime==1.4.4",
        OCR + "ch_ppocr_mobile_v2.0_cls_infer.onnx",
        tuple({"x": noise(n, 3, 48, 192)} for n in (1, 2)),
    ),
    Packaged("captcha", "ddddocr==1.6.1", "ddddocr/common.onnx", tuple({"input1": pixels(1, 1, 64, w)} for w in (96, 160))),
    Packaged("captcha_find", "ddddocr==1.6.1", "ddddocr/common_det.onnx", ({"images": 255 * pixels(1, 3, 416, 416)},)),
    Packaged("faces", "nudenet==3.4.2", "nudenet/320n.onnx", tuple({"images": pixels(1, 3, h, 96)} for h in (96, 128))),
    Packaged(
        "pitch",
        "swift-f0==0.3.0",
        "swift_f0/model.onnx",
        tuple({"audio": wave(1, n), "fmin": numpy.float32(47), "fmax": numpy.float32(2094)} for n in (4000, 6000)),
    ),
    Packaged(
        "notes",
        "basic-pitch==0.4.0",
        "basic_pitch/saved_models/icassp_2022/nmp.onnx",
        ({"serving_default_input_2:0": wave(1, 43844)[..., None]},),
    ),
)


def fetch(folder: Path) -> list[str]:
    """Writes NAME.packaged.onnx and its samples into the folder. Returns what could not be had, with the reason."""
    wheels = folder / "wheels"
    missing = []
    for each in PACKAGED:
        out = folder / f"{each.name}.packaged.onnx"
        if out.exists():
            continue
        stem = each.package.replace("-", "_").replace("==", "-")
        if not any(wheels.glob(f"{stem}-*.whl")):
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary",
                ":all:",
                "-d",
                wheels,
                each.package,
            ]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            if done.returncode != 0:
                missing.append(f"{each.package}: {done.stderr.strip().splitlines()[-1]}")
                continue
        with zipfile.ZipFile(next(wheels.glob(f"{stem}-*.whl"))) as wheel:
            out.write_bytes(wheel.read(each.path))
        for index, sample in enumerate(each.samples):
            numpy.savez(folder / f"{each.name}.packaged.{index}.npz", **sample)
    return missing
