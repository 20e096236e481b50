# SPDX-License-Identifier: Apache-2.0
"""tenon.LLM on a small random model, whose tokens are letters."""

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import tenon
from refusals import refused
from tenon import _tenon

sys.path.insert(0, str(Path(__file__).parents[3] / "tests/nn"))
from checkpoint_files import write_adapter, write_language_model  # noqa: E402
from onnx_decoders import Decoder, write_text  # noqa: E402

GREEDY = {"temperature": 0.0, "max_tokens": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model")
    write_language_model(path)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def llm(folder, cache, tmp_path_factory, monkeypatch) -> tenon.LLM:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    return tenon.LLM(folder, context=200)


def likeliest(llm: tenon.LLM, text: str, count: int, engine: tenon.Engine) -> list[int]:
    """The likeliest tokens after the text, each from a run of all tokens before it."""
    tokens = llm.tokenize(text)
    for _ in range(count):
        tokens.append(int(tenon.Context(engine).run({"tokens": np.array([tokens])})["logits"].argmax()))
    return tokens[-count:]


def test_a_greedy_text_is_the_likeliest_token_in_each_run(llm, tmp_path_factory):
    text = llm.generate("once", **GREEDY)
    (file,) = (tmp_path_factory.getbasetemp() / "cache/tenon/engines").iterdir()
    answer = llm.last_answer
    assert answer["tokens"] == likeliest(llm, "once", len(answer["tokens"]), tenon.load(file))
    assert text == answer["text"] == llm.detokenize(answer["tokens"])
    assert tenon.LLM(file).generate("once", **GREEDY) == text


def test_tokens_of_a_stream_are_taken_back_where_its_rings_still_have_what_came_before(folder):
    stream = tenon.LLM(folder, window=16, sinks=4)
    assert stream.context == 2**63 - 1
    text = "abcdefghij" * 60
    for prompt, reused in ((text, 0), (text[:-60] + "zz", 540), (text[:-45] + "y", 540), (text[:150], 0), (text[:150] + "z", 150)):
        found = stream.generate(prompt, **GREEDY)
        assert stream.last_answer["reused_tokens"] == reused
        assert found == tenon.LLM(folder, window=16, sinks=4).generate(prompt, **GREEDY)


def test_pieces_come_one_after_the_other(llm):
    turns = [{"role": "user", "content": "hello"}]
    assert llm.chat_text(turns) == "u:hello;a:"
    whole = llm.chat(turns, **GREEDY)
    pieces = list(llm.chat(turns, stream=True, **GREEDY))
    assert len(pieces) > 1
    assert "".join(pieces) == whole
    assert llm.last_answer["reused_tokens"] == llm.last_answer["prompt_tokens"] - 1


def test_an_answer_that_begins_ends_the_one_under_way(llm):
    first = llm.generate("once", stream=True, temperature=0.0)
    next(first)
    text = llm.generate("once", **GREEDY)
    assert list(first) == []
    assert llm.last_answer["text"] == text


def test_weights_and_adapters_of_a_checkpoint(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name = "model.layers.0.self_attn.v_proj"
    parts = {f"{name}.lora_A.weight": np.ones((2, 64), np.float32), f"{name}.lora_B.weight": np.ones((32, 2), np.float32)}
    write_adapter(tmp_path / "adapter", parts)
    adapter = f"{tmp_path / 'adapter'}=0.5"
    both = tenon.LLM(folder, context=200, weights="int8", lora=[adapter])
    assert both.generate("once", **GREEDY)
    compiled = tenon.Context(tenon.compile(folder, context=200, lora=[adapter]))
    plain = tenon.Context(tenon.compile(folder, context=200))
    tokens = {"tokens": np.array([[1, 2, 3]])}
    assert np.abs(compiled.run(tokens)["logits"] - plain.run(tokens)["logits"]).max() > 0.1
    (file,) = (tmp_path / "cache/tenon/engines").iterdir()
    assert "weights" in str(refused("bad_usage", lambda: tenon.LLM(file, weights="int8")))
    refused("bad_usage", lambda: tenon.LLM(folder, weights="int3"))
    assert tenon.LLM(folder, context=200, weights="bf16").generate("once", **GREEDY)
    assert "did you mean 'int8'?" in str(refused("bad_usage", lambda: tenon.LLM(folder, kv="int9")))
    assert "did you mean 'f16'?" in str(refused("bad_usage", lambda: tenon.compile(folder, kv="fp16")))
    assert tenon.LLM(folder, context=200, kv="fp8").generate("once", **GREEDY)
    refused("file_missing", lambda: tenon.LLM(folder, lora=[str(tmp_path / "none")]))


@pytest.mark.parametrize(
    ("turns", "place", "found"),
    [
        ("hello", "messages", "str"),
        ({"role": "user", "content": "hi"}, "messages", "dict"),
        (3, "messages", "int"),
        ([], "messages", "none"),
        (["hello"], "messages[0]", "str"),
        ([("user", "hi")], "messages[0]", "tuple"),
        ([{"role": "user", "content": "a"}, {"role": "user", "text": "b"}], "messages[1]", "the keys 'role', 'text'"),
        ([{"content": "hi"}], "messages[0]", "the keys 'content'"),
        ([{}], "messages[0]", "the keys none"),
        ([{"role": "user", "content": 3}], "messages[0]['content']", "int"),
        ([{"role": None, "content": "hi"}], "messages[0]['role']", "NoneType"),
        ([{"role": "user", "content": "a\ud800"}], "messages[0]['content']", "U+D800 at character 1"),
    ],
)
def test_what_is_no_turn_is_named(llm, turns, place, found):
    for call in (llm.chat, llm.chat_text):
        error = refused("bad_input", lambda call=call: call(turns))
        assert (error.place, error.found) == (place, found)
        assert error.expected


def test_what_turns_may_not_have_yet(llm):
    turn = {"role": "user", "content": "hi"}
    assert "'tool_calls'" in refused("not_supported", lambda: llm.chat([turn | {"tool_calls": [{}]}])).what
    assert "parts" in refused("not_supported", lambda: llm.chat([turn | {"content": [{"type": "text", "text": "hi"}]}])).what
    assert llm.chat_text([turn | {"tool_calls": None}]) == "u:hi;a:"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"temperatur": 0.5}, "temperatur"),
        ({"temperature": "hot"}, "'hot'"),
        ({"top_k": 1.5}, "1.5"),
        ({"top_k": 2**70}, str(2**70)),
        ({"threads": 2**40}, str(2**40)),
        ({"seed": -1}, "-1"),
        ({"seed": "x"}, "'x'"),
        ({"stop": 3}, "int"),
        ({"stop": ["a", 3]}, "int"),
        ({"stop": [""]}, None),
        ({"max_tokens": -1}, "-1"),
        ({"min_p": float("nan")}, "nan"),
    ],
)
def test_bad_options_are_named(llm, options, found):
    with pytest.raises(tenon.TenonError) as raised:
        llm.generate("once", **options)
    assert raised.value.code in ("bad_usage", "bad_input")
    assert next(iter(options)) in raised.value.place
    assert found is None or raised.value.found == found
    if "temperatur" in options:
        assert raised.value.advice == "temperature="


def test_one_text_is_a_list_of_one(llm, folder):
    whole = llm.generate("once", **GREEDY)
    assert llm.generate("once", stop=whole[3:5], **GREEDY) == whole[: whole.index(whole[3:5])]
    assert "nowhere" in str(refused("file_missing", lambda: tenon.LLM(folder, lora="nowhere")))
    assert llm.generate("once", temperature=np.float32(0), max_tokens=np.int64(3), seed=np.uint64(2**63)) == whole[:3]


def test_a_build_config_shapes_the_engine(folder):
    config = tenon.BuildConfig(max_seq_len=200, max_input_len=10, max_num_tokens=64, gather_context_logits=True)
    engine = tenon.compile(folder, build_config=config)
    assert tenon.Context(engine).run({"tokens": np.array([[1, 2, 3]])})["logits"].shape == (1, 3, 32)
    llm = tenon.LLM(folder, build_config=config)
    assert llm.context == 200
    assert "11 tokens, 1 too many" in str(refused("bad_input", lambda: llm.generate("once upon a")))


def test_a_build_config_of_a_file_and_without_a_cache(folder, tmp_path):
    file = tmp_path / "config.json"
    file.write_text('{"build_config": {"kv_cache_type": "DISABLED", "max_seq_len": 200, "opt_num_tokens": 7}}')
    whole = tenon.LLM(folder, build_config=file)
    assert whole.generate("once", **GREEDY) == tenon.LLM(folder, context=200).generate("once", **GREEDY)
    assert whole.context == 200
    config = tenon.BuildConfig.from_json_file(file)
    assert (config.kv_cache_type, config.max_num_tokens, config.plugin_config.gemm_plugin) == ("DISABLED", 8192, None)
    assert tenon.BuildConfig.from_dict(config.to_dict()) == config
    assert tenon.BuildConfig.from_dict({}, plugin_config=tenon.PluginConfig(dtype="x")).plugin_config.dtype == "x"


def test_what_a_build_config_cannot_have_is_refused(folder):
    unknown = refused("bad_input", lambda: tenon.BuildConfig.from_dict({"max_seqlen": 3}))
    assert (unknown.place, unknown.advice) == ("BuildConfig:1, max_seqlen", "did you mean 'max_seq_len'?")
    refused("bad_input", lambda: tenon.PluginConfig.from_dict({"context_fmha": "yes"}))
    for fields in ({"max_beam_width": 4}, {"use_refit": True}, {"kv_cache_type": "PAGED"}, {"dry_run": True}):
        config = tenon.BuildConfig.from_dict(fields)  # it may be changed before a build
        for use in (tenon.compile, tenon.LLM):
            assert next(iter(fields)) in refused("not_supported", lambda use=use, config=config: use(folder, build_config=config)).place
    with pytest.raises(TypeError, match="build_config must be BuildConfig"):
        tenon.compile(folder, build_config=3)


def test_classes_and_documentation_have_the_fields_of_the_table():
    table = _tenon._build_config_fields()
    assert tenon.BuildConfig().to_dict() == json.loads(_tenon._read_build_config("{}", ""))
    assert [f.name for f in dataclasses.fields(tenon.PluginConfig)] == [name for of, name, *_ in table if of]
    assert [f.name for f in dataclasses.fields(tenon.BuildConfig)] == [name for of, name, *_ in table if not of]
    docs = (Path(__file__).parents[3] / "docs/llm.md").read_text(encoding="utf-8").partition("\n## BuildConfig")[2].partition("\n## ")[0]
    rows = [line for line in docs.splitlines() if line.startswith("| ") and not line.startswith("| field |")]
    assert rows == [f"| {name} | {kind} | `{standard}` | {use}: {meaning} |" for _, name, kind, standard, use, meaning in table]


def test_bad_calls_raise(llm, folder):
    assert "the prompt is empty" in str(refused("bad_input", lambda: llm.generate("")))
    assert "longer than the context" in str(refused("bad_input", lambda: llm.generate("x" * 300)))
    assert refused("bad_input", lambda: llm.generate(3)).found == "int"
    assert refused("bad_input", lambda: llm.tokenize("\udfff")).place == "text"
    assert "no system" in str(refused("bad_input", lambda: llm.chat([{"role": "system", "content": "be kind"}])))
    refused("bad_usage", lambda: llm.generate("a", top_p=3.0))
    refused("file_missing", lambda: tenon.LLM(folder / "none.gguf"))


def test_an_onnx_decoder_answers_as_its_checkpoint_does(llm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "model.onnx").write_bytes(Decoder(grouped=True).model().replace(b"present.", b"updated."))
    write_text(tmp_path, genai=True)
    decoder = tenon.LLM(tmp_path, context=100, states=["past_key_values.*=updated.*"])
    assert decoder.context == 100
    assert decoder.generate("once upon", **GREEDY) == llm.generate("once upon", **GREEDY)
    refused("bad_input", lambda: tenon.compile(tmp_path / "model.onnx", states=["auto"]))
