# SPDX-License-Identifier: Apache-2.0
"""The networks that are measured: exported once into build/models by tools/models/make_models.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from environment import ROOT, TENON, models_python, run  # noqa: E402

MODELS = ROOT / "build" / "models"
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"


def model_of(family: str) -> Path:
    """The family's export at its real size."""
    path = MODELS / f"{family}.dynamo.18.onnx"
    if not path.exists():
        print(f"exporting {family}", file=sys.stderr, flush=True)
        MODELS.mkdir(parents=True, exist_ok=True)
        script = ROOT / "tools" / "models" / "make_models.py"
        choice = ["--families", family, "--exporter", "dynamo", "--opset", "18", "--size", "full"]
        run([models_python(), script, "--out", MODELS, *choice])
    return path


def quantized_of(family: str, how: str) -> Path:
    """The model, quantized to 8 bits by ONNX Runtime's quantizer; without `how`, the model itself."""
    model = model_of(family)
    if not how:
        return model
    path = MODELS / f"{family}.{how}.onnx"
    if not path.exists():
        script = ROOT / "tools" / "models" / "make_quantized.py"
        run([PEERS_PYTHON, script, model, path, "--how", how])
    return path


def engine_of(family: str) -> Path:
    """The family's network as an engine file, compiled now."""
    engine = MODELS / f"{family}.tenon"
    run([TENON, "build", model_of(family), "-o", engine, "--quiet"])
    return engine
