# SPDX-License-Identifier: Apache-2.0
"""Every functional against NumPy."""

import math

import numpy as np
import pytest
import tenon
from graph_rewriting_networks import HEAD_SIZE, attention_by_numpy
from tenon.graph_rewriting import Network, Tensor, gpt_attention, net_guard, trt
from tenon.graph_rewriting import functional as f

X = np.asarray([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)


def evaluated(build, **inputs):
    network = Network()
    with net_guard(network):
        tensors = [Tensor(name=name, dtype=_DTYPES[array.dtype.name], shape=array.shape) for name, array in inputs.items()]
        made = build(*tensors)
        for tensor in made if isinstance(made, list) else [made]:
            tensor.mark_output()
    network.graph.verify()
    out = list(network.evaluate(inputs).values())
    return out if isinstance(made, list) else out[0]


_DTYPES = {"float32": trt.float32, "float16": trt.float16, "int64": trt.int64, "int32": trt.int32, "bool": trt.bool}


def normalised(x, eps):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


CASES = [
    (lambda x: x + 1, X + 1),
    (lambda x: 1 + x, X + 1),
    (lambda x: x - [1.0, 2.0, 3.0], X - [1, 2, 3]),
    (lambda x: 1 - x, 1 - X),
    (lambda x: 2 * x * x, 2 * X * X),
    (lambda x: x / 4, X / 4),
    (lambda x: 4 / x, 4 / X),
    (lambda x: x**2, X**2),
    (lambda x: -x, -X),
    (lambda x: x < 1, X < 1),
    (lambda x: x > 1, X > 1),
    (lambda x: f.eq(x, 1.0), X == 1),
    (lambda x: f.op_and(x > 0, x < 1), (X > 0) & (X < 1)),
    (lambda x: f.op_or(x < 0, x > 1), (X < 0) | (X > 1)),
    (lambda x: f.not_op(x < 0), X >= 0),
    (lambda x: f.maximum(x, 1), np.maximum(X, 1)),
    (lambda x: f.minimum(x, 1), np.minimum(X, 1)),
    (lambda x: f.where(x > 0, x, 0), np.maximum(X, 0)),
    (f.exp, np.exp(X)),
    (lambda x: f.log(f.abs(x)), np.log(np.abs(X))),
    (lambda x: x.abs().sqrt(), np.sqrt(np.abs(X))),
    (f.recip, 1 / X),
    (f.sin, np.sin(X)),
    (f.cos, np.cos(X)),
    (f.floor, np.floor(X)),
    (f.ceil, np.ceil(X)),
    (f.round, np.round(X)),
    (f.erf, np.vectorize(math.erf)(X)),
    (f.relu, np.maximum(X, 0)),
    (f.sigmoid, 1 / (1 + np.exp(-X))),
    (f.tanh, np.tanh(X)),
    (f.softplus, np.log1p(np.exp(X))),
    (f.silu, X / (1 + np.exp(-X))),
    (f.gelu, 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))),
    (lambda x: f.gelu(x, "none"), 0.5 * X * (1 + np.vectorize(math.erf)(X / np.sqrt(2)))),
    (lambda x: f.softmax(x, 0), np.exp(X) / np.exp(X).sum(0)),
    (lambda x: f.layer_norm(x, 3), normalised(X, 1e-5)),
    (lambda x: f.layer_norm(x, (3,), f.constant([1.0, 2.0, 3.0], "f32"), f.constant(X[0])), normalised(X, 1e-5) * [1, 2, 3] + X[0]),
    (lambda x: f.rms_norm(x, 3), X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-6)),
    (lambda x: f.matmul(x, x, transb=True), X @ X.T),
    (lambda x: f.matmul(x, x, transa=True), X.T @ X),
    (lambda x: x @ f.constant(np.ones((3, 2), np.float32)), X @ np.ones((3, 2))),
    (lambda x: x.sum(1), X.sum(1)),
    (lambda x: x.prod([0, 1]), X.prod()),
    (lambda x: x.max(0, keepdim=True), X.max(0, keepdims=True)),
    (lambda x: x.min(-1), X.min(-1)),
    (lambda x: x.mean(0), X.mean(0)),
    (lambda x: f.concat([x, x], 1), np.concatenate([X, X], 1)),
    (lambda x: x.view([3, -1]), X.reshape(3, 2)),
    (lambda x: f.reshape(x, f.constant(np.asarray([6], np.int32))), X.reshape(6)),
    (lambda x: x.unsqueeze(0).flatten(0, 1), X),
    (lambda x: x.flatten(), X.reshape(6)),
    (lambda x: x.permute([1, 0]), X.T),
    (lambda x: x.transpose(0, -1), X.T),
    (lambda x: x.unsqueeze(1).expand([2, 4, 3]), np.repeat(X[:, None], 4, 1)),
    (lambda x: x.unsqueeze([0, 3]).squeeze(0), X[:, :, None]),
    (lambda x: f.slice(x, [0, 1], [2, 2]), X[:, 1:3]),
    (lambda x: f.slice(x, [1, -3], [1, 3]), X[1:]),
    (lambda x: f.slice(x, [1, 2], [2, 2], [-1, -2]), X[::-1, 2::-2]),
    (lambda x: f.split(x, 1, 0), [X[:1], X[1:]]),
    (lambda x: x.split([1, 2], -1), [X[:, :1], X[:, 1:]]),
    (lambda x: f.shape(x), np.asarray([2, 3])),
    (lambda x: f.shape(x, -1), np.asarray(3)),
    (lambda x: x.select(1, -1), X[:, -1]),
    (lambda x: f.embedding(f.constant(np.asarray([1, 1, 0])), x), X[[1, 1, 0]]),
    (lambda x: f.identity(x), X),
    (lambda x: x.cast(trt.int32), X.astype(np.int32)),
    (lambda x: x.cast("f16"), X.astype(np.float16)),
    (lambda x: f.arange(1, 5, trt.float32), np.asarray([1, 2, 3, 4])),
    (lambda x: f.constant(1.5, trt.bfloat16).cast(trt.float32), np.asarray(1.5)),
]


@pytest.mark.parametrize(("build", "expected"), CASES)
def test_a_functional_computes_what_numpy_does(build, expected):
    for value, wanted in zip(*[(v if isinstance(v, list) else [v]) for v in (evaluated(build, x=X), expected)], strict=True):
        assert value.shape == wanted.shape
        np.testing.assert_allclose(value, wanted, rtol=2e-5, atol=1e-6)


def test_every_functional_is_a_kind_of_layer_that_patterns_can_select():
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(2, 3))
        f.layer_norm(f.softmax(f.gelu(x)), 3)
        f.concat([x.permute([1, 0]).view([2, 3]), x.sum(1, keepdim=True).expand([2, 3])])
    kinds = {layer.type.name for layer in network.get_layers()}
    assert kinds == {"ACTIVATION", "SOFTMAX", "CONSTANT", "NORMALIZATION", "SHUFFLE", "REDUCE", "PLUGIN_V2", "CONCATENATION"}
    (gelu,) = [layer for layer in network.get_layers() if layer.op_type == "Gelu"]
    assert gelu.as_layer().op == trt.ActivationType.GELU_TANH


def test_parts_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match="has size 3: not a multiple of 2"):
        evaluated(lambda x: f.split(x, 2, 1), x=X)
    with pytest.raises(ValueError, match="has size 3, and the parts have 4"):
        evaluated(lambda x: f.split(x, [2, 2], 1), x=X)
    with pytest.raises(IndexError, match="there is no axis 2: the rank is 2"):
        evaluated(lambda x: x.transpose(0, 2), x=X)
    with pytest.raises(TypeError, match="a tensor or a number is expected"):
        evaluated(lambda x: x + "one", x=X)


def test_sizes_that_are_not_known_have_names():
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(-1, 3), dim_range={"batch": [1], "width": [3]})
        y = f.relu(x)
        assert y.shape == (-1, 3) and y.size(-1) == 3 and y.rank() == 2 and y.value.shape == ("batch", 3)
        with pytest.raises(TypeError, match="needs name, dtype and shape"):
            Tensor(name="z")


def qkv_of(tokens, heads, kv_heads, batch=2):
    return np.random.default_rng(5).standard_normal((batch, tokens, (heads + 2 * kv_heads) * HEAD_SIZE)).astype(np.float32)


@pytest.mark.parametrize(("heads", "kv_heads", "scaling"), [(2, 2, 1.0), (4, 2, 1.0), (3, 1, 2.5)])
def test_attention_by_its_definition(heads, kv_heads, scaling):
    qkv = qkv_of(5, heads, kv_heads)
    bias = np.linspace(-1, 1, qkv.shape[2], dtype=np.float32)

    def build(x):
        return list(
            gpt_attention(
                qkv=x, qkv_bias=f.constant(bias), num_heads=heads, num_kv_heads=kv_heads, hidden_size_per_head=HEAD_SIZE, q_scaling=scaling
            )
        )

    output, present = evaluated(build, qkv=qkv)
    np.testing.assert_allclose(output, [attention_by_numpy(row + bias, heads, kv_heads, scaling) for row in qkv], rtol=1e-4, atol=1e-5)
    keys = (qkv + bias)[:, :, heads * HEAD_SIZE : (heads + kv_heads) * HEAD_SIZE].reshape(2, 5, kv_heads, HEAD_SIZE)
    np.testing.assert_allclose(present[:, 0], keys.transpose(0, 2, 1, 3), rtol=1e-6)


def test_attention_goes_on_from_its_cache():
    qkv = qkv_of(6, 2, 2)
    options = {"num_heads": 2, "hidden_size_per_head": HEAD_SIZE}
    whole, _ = evaluated(lambda x: list(gpt_attention(qkv=x, **options)), qkv=qkv)
    _, cache = evaluated(lambda x: list(gpt_attention(qkv=x, **options)), qkv=qkv[:, :4])
    rest, _ = evaluated(lambda x, past: list(gpt_attention(qkv=x, past_key_value=past, **options)), qkv=qkv[:, 4:], past=cache)
    np.testing.assert_allclose(rest, whole[:, 4:], rtol=1e-4, atol=1e-5)


def test_attention_without_padding_sees_one_sequence_at_a_time():
    qkv, lengths = qkv_of(8, 2, 2, batch=1), np.asarray([3, 1, 4], np.int32)
    output, _ = evaluated(
        lambda x, n: list(gpt_attention(qkv=x, context_lengths=n, num_heads=2, hidden_size_per_head=HEAD_SIZE)), qkv=qkv, lengths=lengths
    )
    expected = np.concatenate([attention_by_numpy(part) for part in np.split(qkv[0], [3, 4])])
    np.testing.assert_allclose(output[0], expected, rtol=1e-4, atol=1e-5)


def test_attention_refuses_sizes_that_do_not_fit():
    with pytest.raises(tenon.TenonError, match="last size of qkv"):
        evaluated(lambda x: gpt_attention(qkv=x, num_heads=3, hidden_size_per_head=HEAD_SIZE)[0], qkv=qkv_of(5, 2, 2))
    with pytest.raises(tenon.TenonError, match="num_heads a multiple of num_kv_heads"):
        evaluated(lambda x: gpt_attention(qkv=x, num_heads=3, num_kv_heads=2, hidden_size_per_head=HEAD_SIZE)[0], qkv=qkv_of(5, 3, 2))
