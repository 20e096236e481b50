# SPDX-License-Identifier: Apache-2.0
"""Each op of the table, compiled whole, against eager PyTorch."""

import pytest

torch = pytest.importorskip("torch")
import tenon  # noqa: E402
import tenon.torch  # noqa: E402
from networks import Function  # noqa: E402
from torch.nn import functional as F  # noqa: E402


def f(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def i(*shape: int, top: int = 5) -> torch.Tensor:
    return torch.randint(0, top, shape, generator=torch.Generator().manual_seed(sum(shape)))


def put(x: torch.Tensor, what: object, places: tuple, adds: bool = False) -> torch.Tensor:
    return torch.ops.aten.index_put(x, places, torch.as_tensor(what), adds)


X, Y, P = f(3, 4), f(3, 4) + 0.1, f(3, 4).abs() + 0.1
IMAGE = f(2, 4, 8, 8)
W = f(4)
NEARLY = torch.tensor([1.0, 0.3, -1.0, 7.5, -7.5, 1e7, 0.0, 3.0, -0.6])
TENTHS = torch.tensor([0.1, 0.1, 0.1, -2.5, 2.5, 0.1, 0.1, 0.0, 0.2])
EDGES = torch.tensor([0.0, -0.0, 1.0, -1.0, 1e-6, -1e-6, 1e30, -1e30, torch.inf, -torch.inf, torch.nan])
OUTSIDE = torch.tensor([2.0**k * s + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1) for d in (0, -1.5, 300)])
GRID = torch.cat(
    [f(2, 6, 7, 2) * 2, torch.tensor([[-1.0, 1], [0, -2.2], [1.4, 0.6], [-3, 1.8]]).expand(2, 7, 4, 2).transpose(1, 2).reshape(2, 4, 7, 2)],
    1,
)
MODES = "reflect", "replicate", "circular"
UNARY = "abs atan ceil cos cosh erf exp floor neg relu round sigmoid sign sin sinh tan tanh square isnan".split()
POSITIVE = "log sqrt rsqrt reciprocal log2 acosh".split()
ACTIVATIONS = "silu gelu mish leaky_relu elu selu hardsigmoid hardswish hardtanh relu6".split()
CASES = {
    **{name: (getattr(torch, name), X) for name in UNARY},
    **{name: (getattr(torch, name), P + (name == "acosh")) for name in POSITIVE},
    **{name: (getattr(F, name), X * 3) for name in ACTIVATIONS},
    "gelu tanh": (lambda x: F.gelu(x, approximate="tanh"), X),
    "add": (lambda x, y: torch.add(x, y, alpha=2) + 1, X, Y),
    "add types": (lambda x, y: x + y + y, X, i(4)),
    "add broadcast": (lambda x, y: x + y, X, f(2, 1, 4)),
    "sub": (lambda x, y: 3 - x - y, X, Y),
    "mul": (lambda x, y: x * y * 2, X, Y),
    "mul of bools": (lambda x, y: (x > 0) * (y > 0), X, Y),
    "div": (lambda x, y: x / y / 3, X, Y),
    "div of integers": (lambda x: x / 2, i(3)),
    "div floor": (lambda x, y: torch.div(x, y, rounding_mode="floor"), X, Y),
    "div trunc": (lambda x, y: torch.div(x, y, rounding_mode="trunc"), X, Y),
    "pow": (lambda x: x**2 + x**3, X),
    "pow of tensors": (lambda x, y: x**y, P, Y),
    "maximum": (lambda x, y: torch.maximum(x, y) + torch.minimum(x, y), X, Y),
    "clamp": (lambda x: x.clamp(-0.5, 0.5) + x.clamp(min=0) + x.clamp(max=0.1), X),
    "compare": (lambda x, y: ((x > y) | (x <= 0.3)) & (x != y) ^ (y >= 0), X, Y),
    "compare types": (lambda x: (x > 2.5) & (x == 3) | ~(x < 1), i(7)),
    "where": (lambda x, y: torch.where(x > 0, x, y) + torch.where(x > 0, 1.0, y), X, Y),
    "masked_fill": (lambda x: x.masked_fill(x > 0, -1.0), X),
    "to": (lambda x: x.to(torch.int64) + x.bool().int(), X * 4),
    "half": (lambda x: x.half().float(), X),
    "prelu": (lambda x, w: F.prelu(x, w), IMAGE, W),
    "addcmul": (lambda x, y: torch.addcmul(x, x, y, value=0.5), X, Y),
    "sum": (lambda x: x.sum() + x.sum(1, keepdim=True), X),
    "sum of integers": (lambda x: x.int().sum(0), i(3, 4)),
    "mean": (lambda x: x.mean((0, 1)) + x.mean() + x.mean(-1), f(3, 3)),
    "amax": (lambda x: x.amax(1) + x.amin(1) + x.max() + x.min(), X),
    "max": (lambda x: x.max(1), X),
    "argmax": (lambda x: (x.argmax(1), x.argmin(0, keepdim=True)), X),
    "any": (lambda x: ((x > 1).any(), (x > -1).all(1)), X),
    "logsumexp": (lambda x: x.logsumexp(1), X),
    "norm": (lambda x: torch.linalg.vector_norm(x, dim=1) + torch.linalg.vector_norm(x, 1, dim=1), X),
    "norm of a scalar": (lambda x: [torch.linalg.vector_norm(x, order) for order in (1, 2)], torch.tensor(-2.5)),
    "var": (lambda x: x.var(1) + x.var(0, unbiased=False).sum(), X),
    "softmax": (lambda x: x.softmax(-1) + x.log_softmax(0), X),
    "cumsum": (lambda x: x.cumsum(1), X),
    "prod": (lambda x: x.prod(1), X),
    "mm": (lambda x, y: x @ y.T, X, Y),
    "bmm": (lambda x, y: torch.bmm(x, y), f(2, 3, 4), f(2, 4, 5)),
    "matmul": (lambda x, y: x @ y, f(2, 3, 4), f(4)),
    "addmm": (lambda b, x, y: torch.addmm(b, x, y.T, beta=0.5, alpha=2), f(3), X, Y),
    "linear": (lambda x, w, b: F.linear(x, w, b), f(2, 3, 4), f(5, 4), f(5)),
    "einsum": (lambda x, y: torch.einsum("bij,bjk->bik", x, y), f(2, 3, 4), f(2, 4, 5)),
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1), f(2, 4, 9), f(6, 4, 3), f(6)),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=2, dilation=2, groups=2), IMAGE, f(6, 2, 3, 3)),
    "conv_transpose": (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), IMAGE, f(4, 3, 3, 3)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), f(2, 2, 5, 4), f(2, 2, 6, 4), f(2, 2, 6, 4)),
    "causal attention": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), f(2, 2, 5, 4)),
    "masked attention": (lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m > 0), f(1, 2, 5, 4), f(5, 5) + 2),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b) + F.layer_norm(x, (4,)), X, W, W + 1),
    "rms_norm": (lambda x, w: F.rms_norm(x, (4,), w, 1e-5), X, W),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w, w), IMAGE, W),
    "instance_norm": (lambda x, w: F.instance_norm(x, weight=w, bias=w), IMAGE, W),
    "batch_norm": (lambda x, m: F.batch_norm(x, m, m.abs() + 1, m, m), IMAGE, W),
    "max_pool": (lambda x: F.max_pool2d(x, 3, 2, 1) + F.max_pool2d(x, 3, 2, 1, ceil_mode=False), IMAGE),
    "avg_pool": (lambda x: F.avg_pool2d(x, 2), IMAGE),
    "adaptive": (lambda x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, 4).sum(), IMAGE),
    "upsample": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), IMAGE),
    "embedding": (lambda k, w: F.embedding(k, w), i(2, 3), f(5, 4)),
    "gather": (lambda x, k: x.gather(1, k), X, i(3, 2, top=4)),
    "index": (lambda x, k: x[:, k] + x.index_select(1, k), X, i(6, top=4)),
    "reshape": (lambda x: x.reshape(2, 6).flatten().view(4, 3).unsqueeze(1).squeeze(1) * 1, X),
    "transpose": (lambda x: x.t() + x.transpose(0, 1) + x.permute(1, 0), X),
    "expand": (lambda x: x.unsqueeze(0).expand(2, -1, -1) * 1 + x.repeat(2, 1, 1), X),
    "slice": (lambda x: x[1:, ::2] + x[0, 1:3] + x[1:, -1:], X),
    "cat": (lambda x, y: torch.cat([x, y], 1) + torch.stack([x, y], 1).flatten(1) + 0, X, Y),
    "split": (lambda x: [p * 1 for p in (*x.split(3, 1), *x.chunk(2, 1), *x.unbind(0), *x.split([1, 3], 1))], X),
    "pad": (lambda x: F.pad(x, (1, 2), value=3.0) + F.pad(x, (2, 1)), X),
    "flip": (lambda x: x.flip(0, 1) * 1, X),
    "tril": (lambda x: x.tril() + x.triu(1), f(4, 4)),
    "full": (lambda x: x + torch.full((4,), 2.0) + torch.zeros_like(x) + torch.ones(4) + torch.full_like(x, 3), X),
    "arange": (lambda x: x + torch.arange(4) + torch.arange(1, 5, dtype=torch.float32) + torch.arange(0, 8, 2), X),
    "index of two": (lambda x, j, k: x[j, k] + x[0, k], f(5, 4, 3), i(2, 1, top=5), i(6, top=4) - 2),
    "log1p": (lambda x: torch.log1p(x) + torch.exp2(x), P),
    "softplus": (lambda x: F.softplus(x * 10) + F.softplus(x, beta=2, threshold=1) + F.logsigmoid(x), X),
    "glu": (lambda x: F.glu(x, 1), X),
    "remainder": (lambda x, y, j, k: (x % y + torch.fmod(x, y), (j - 3) % k), X, Y, i(3, 4), i(3, 4) + 1),
    "floor of what divides nearly": (
        lambda x, y: (torch.div(x, y, rounding_mode="floor"), x // y, x % y, torch.fmod(x, y)),
        NEARLY,
        TENTHS,
    ),
    "floor by a number": (lambda x: (x // 0.1, x % 0.1, x // -0.3), NEARLY),
    "clip": (lambda x: x.clip(-0.5, 0.5), X),
    "std": (lambda x: x.std(1), X),
    "weight_norm": (lambda v, g: torch._weight_norm(v, g, 0), f(3, 4, 2), f(3, 1, 1)),
    "bilinear": (
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear") + F.interpolate(x, (16, 16), mode="bilinear", align_corners=True),
        IMAGE,
    ),
    "bilinear by scales": (
        lambda x: [
            F.interpolate(x, scale_factor=s, mode="bilinear", align_corners=c)
            for s in ((0.7, 1.3), 0.5, 2.3, (1.0, 0.2))
            for c in (False, True)
        ],
        IMAGE[..., :5],
    ),
    "bilinear to one": (lambda x: F.interpolate(x, (1, 3), mode="bilinear"), IMAGE),
    "nearest": (
        lambda x: (
            [F.interpolate(x, scale_factor=s, mode="nearest") for s in (2.1, (2.0, 1.25), (1.5, 3.0), 0.6, 1.0)]
            + [F.interpolate(x, (9, 13), mode="nearest"), F.interpolate(x[0], 17, mode="nearest")]
        ),
        IMAGE[..., :5],
    ),
    "nearest of three axes": (lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest"), f(1, 2, 3, 4, 5)),
    "pools of three axes": (lambda x: F.max_pool3d(x, 2) + F.avg_pool3d(x, 2), f(1, 2, 4, 4, 6)),
    "pads": (
        lambda x: [F.pad(x, (2, 1, 0, 3), mode=m) for m in MODES] + [F.pad(x[0], (1, 2), mode=m) for m in MODES],
        IMAGE,
    ),
    "circular pads that cut": (lambda x: [F.pad(x, w, mode="circular") for w in ((-1, 1, -2, 1), (2, -3, 0, -1))], IMAGE),
    "tile": (lambda x: (x.tile(2), x.tile(2, 1, 3)), X),
    "trunc": (lambda x, k: (x.trunc(), k.round(), k.floor(), k.trunc()), X * 9, i(5)),
    "scatter": (
        lambda x, k, y: (x.scatter(1, k, y), x.scatter(0, k[:2], 2.5), x.scatter(1, k[:, :1], y)),
        X,
        i(3, 4, top=3).argsort(1)[:, :3],
        Y[:, :3],
    ),
    "without axes": (lambda x: (x.prod(), x.argmax(), x.argmin(), x.argmax(keepdim=True), x.roll(5), x.roll(-1), x[0].roll(3)), X),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), IMAGE),
    "roll": (lambda x: x.roll((1, -1), (0, 1)) + x.roll(4, 1), X),
    "atan2": (lambda x, y: (torch.atan2(x, y), torch.atan2(y, 2 * x)), X, Y),
    "atan2 of the edges": (torch.atan2, EDGES.repeat_interleave(len(EDGES)), EDGES.repeat(len(EDGES))),
    "atan2 of integers": (lambda x, y: torch.atan2(x - 2, y - 2), i(3, 4), i(3, 4).flip(0)),
    "expm1": (lambda x: torch.expm1(x), X * 10),
    "expm1 of the edges": (torch.expm1, EDGES * 60),
    "diff": (
        lambda x: (x.diff(), x.diff(2, 0), x.diff(dim=0, prepend=x[:1], append=x[:2]), (x > 0).diff(), x.diff(n=0, prepend=x[:, :1]) * 1),
        X,
    ),
    "diff to nothing": (lambda x: x.diff(5) * 1, X),
    "diagonal": (lambda x: [torch.diagonal(x, k, 0, 2) * 1 for k in range(-2, 5)] + [x.diagonal(0, -1, 1) + 1], f(3, 2, 4)),
    "diagonal_scatter": (
        lambda x: [torch.diagonal_scatter(x, x.diagonal(k, 2, 0) * 2 + 1, k, 2, 0) for k in range(-3, 4)],
        f(3, 2, 4),
    ),
    "diagonal of no elements": (lambda x: (x.diagonal(4) * 1, x.diagonal(-3) * 1), X),
    "adaptive average of unequal windows": (
        lambda x: (F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_avg_pool2d(x, (11, 8)), F.adaptive_avg_pool1d(x[0], 3)),
        IMAGE,
    ),
    "adaptive maximum": (
        lambda x: (
            F.adaptive_max_pool2d(x, (3, 5)),
            F.adaptive_max_pool2d(x, 4),
            F.adaptive_max_pool2d(x, 1),
            F.adaptive_max_pool1d(x[0], 5),
        ),
        IMAGE,
    ),
    "adaptive pools of three axes": (lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)) + F.adaptive_max_pool3d(x, (2, 3, 4)), f(2, 3, 5, 6, 7)),
    "adaptive average of infinities": (lambda x: F.adaptive_avg_pool2d(torch.where(x > 2, torch.inf, x), (3, 3)), IMAGE),
    "index_put": (
        lambda x, y, j, k: (put(x, y, (j,)), put(x, y[0], (None, k)), put(x, 2.5, (j[:, None], k))),
        X,
        Y,
        i(3, top=3),
        i(4, top=4) - 4,
    ),
    "index_put of all axes": (lambda x, y, j: put(x, y.flatten()[:3], (j, j + 1)), f(4, 5), Y, torch.tensor([2, 0, -3])),
    "index_put apart": (lambda x, y, j, k: put(x, y, (j, None, k)), f(4, 3, 5), f(2, 3), torch.tensor([3, 1]), torch.tensor([0, 4])),
    "index_put in the middle": (
        lambda x, y, j, k: put(x, y, (None, j, k)),
        f(2, 4, 5, 3),
        f(2, 2, 3),
        torch.tensor([[1], [3]]),
        torch.tensor([0, 4]),
    ),
    "index_put by a mask": (lambda x, y: (put(x, -1.0, (x > 0,)), put(x, y[0], (y[:, 0] > 0,)), put(x, 2.0, (x > 0,), True)), X, Y),
    **{
        f"grid_sample {mode} {padding} {corners}": (
            lambda x, g, m=mode, p=padding, c=corners: F.grid_sample(x, g, mode=m, padding_mode=p, align_corners=c),
            IMAGE[..., :5],
            GRID,
        )
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
        if (mode, padding) != ("bicubic", "border")
    },
    "addcdiv": (lambda x, y: torch.addcdiv(x, x, y, value=0.5), X, P),
    "lerp": (lambda x, y, w: (torch.lerp(x, y, 0.3), torch.lerp(x, y, 0.8), torch.lerp(x, y, w)), X, Y, P),
    "celu and threshold": (lambda x: (F.celu(x, 1.3), F.threshold(x, 0.1, 7.0)), X),
    "threshold of the edges": (lambda x: F.threshold(x, 0.0, 7.0), EDGES),
    "log10 and angles": (lambda x: (x.log10(), x.deg2rad(), x.rad2deg()), P),
    "frac": (lambda x: (x * 7).frac(), X),
    "logit": (lambda x: (torch.logit(x.sigmoid()), torch.logit(x, 0.1)), X),
    "xlogy": (lambda x, y: (torch.xlogy(x, y), torch.xlogy(x, 2.0)), EDGES.repeat_interleave(11), EDGES.repeat(11)),
    "infinities": (lambda x: (x.isinf(), x.isposinf(), x.isneginf(), x.isfinite()), EDGES),
    "nan_to_num": (lambda x: (x.nan_to_num(), x.nan_to_num(1.5, 2.5, -3.5), x.half().nan_to_num()), EDGES),
    "clamp by tensors": (lambda x, y: (x.clamp(min=y), x.clamp(max=y), x.clamp_min(0)), X, Y),
    "addmv and outer": (lambda x, y, w: (torch.addmv(y[:, 0], x, w, alpha=2), torch.outer(w, y[0])), X, Y, W),
    "var_mean": (lambda x: (*torch.var_mean(x, 1), *torch.std_mean(x, 0, keepdim=True), *torch.aminmax(x, dim=1)), X),
    "cumprod": (lambda x: (x.cumprod(1), x.cumprod(0)), X),
    "repeat_interleave": (lambda x: (x.repeat_interleave(3, 1), x.repeat_interleave(2), x.repeat_interleave(2, -2)), X),
    "index_copy": (
        lambda x, y, k: (x.index_copy(0, k, y[:2]), x.index_copy(-1, k, y[:, :2]), x.long().index_copy(1, k, y[:, 1:3].long())),
        X,
        Y,
        torch.tensor([2, 0]),
    ),
    "index_copy of a cache": (lambda x, k, y: x.index_copy(2, k, y), f(2, 3, 5, 4), torch.tensor([3]), f(2, 3, 1, 4)),
    "sign of the edges": (lambda x, k: (1 / x.sign(), 1 / x.sgn(), x.half().sign(), x.double().sign(), (k - 2).sign()), EDGES, i(5)),
    **{
        f"{source} to {target} out of range": (
            lambda x, s=source, t=target: x.to(getattr(torch, s)).to(getattr(torch, t)),
            torch.cat([EDGES, OUTSIDE]),
        )
        for source in ("float32", "float64", "float16", "bfloat16")
        for target in ("uint8", "int8", "int16", "int32", "int64", "bool")
    },
    "scatters": (lambda x, y: torch.select_scatter(x, y[0], 0, 1) + torch.slice_scatter(x, y[:, :2], 1, 1, 3), X, Y),
}


@pytest.mark.parametrize("name", CASES)
def test_gives_what_eager_gives(name):
    function, *given = CASES[name]
    compiled = tenon.torch.compile(Function(function), inputs=given, require_full_compilation=True)
    torch.testing.assert_close(compiled(*given), function(*given), rtol=1e-4, atol=1e-5, equal_nan=True)


def test_cubic_samples_at_the_border():
    """ONNX means another thing by it: PyTorch runs it."""
    for corners in (False, True):
        module = Function(lambda x, g, c=corners: F.grid_sample(x, g, mode="bicubic", padding_mode="border", align_corners=c))
        compiled = tenon.torch.compile(module, inputs=[IMAGE, GRID], min_block_size=1)
        torch.testing.assert_close(compiled(IMAGE, GRID), module(IMAGE, GRID))


@pytest.mark.parametrize("scale", [2.1, (2.0, 1.25), (1.5, 3.0), 0.6])
def test_nearest_elements_by_scales_that_are_no_whole_numbers(scale):
    """Whoever makes them, they are those of eager: by the scale, not by the sizes, which are rounded."""
    module = Function(lambda x: F.interpolate(x + 1, scale_factor=scale, mode="nearest") * 2)
    for image in (IMAGE, IMAGE[..., :5, :3]):
        compiled = tenon.torch.compile(module, inputs=[image], min_block_size=1)
        torch.testing.assert_close(compiled(image), module(image))


def test_places_that_are_written_to():
    """In place, in a tensor of its own and in an input."""

    def write(x, y, k):
        z = x.sin()
        z[k] = y
        z.index_put_((k[:1], k[:1]), torch.tensor(5.0))
        x[:, 1] = y[0, 0]
        return z, x * 2

    k = torch.tensor([0, 2, -2])
    compiled = tenon.torch.compile(Function(write), inputs=[X.clone(), Y, k], require_full_compilation=True)
    given, wanted = X.clone(), X.clone()
    torch.testing.assert_close(compiled(given, Y, k), write(wanted, Y, k), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(given, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reduce", ["sum", "prod", "amin", "amax"])
def test_reductions_at_places(reduce):
    """By whoever has a kernel; what a mean is of is left to PyTorch."""
    k = i(3, 4, top=3)
    module = Function(lambda x, y: (x.scatter_reduce(0, k, y, reduce), x.scatter_add(1, k, y), x.index_add(1, k[0], y, alpha=2)))
    compiled = tenon.torch.compile(module, inputs=[X, Y], backends=["cpu", "reference"], require_full_compilation=True)
    torch.testing.assert_close(compiled(X, Y), module(X, Y), rtol=1e-4, atol=1e-5)


def test_sums_at_places():
    """Sums in one element have no kernel: who lists the reference gets them from there, else PyTorch makes them."""
    module = Function(lambda x, y, k: (put(x, y, (k,), True), put(x, y[0, :3], (None, k + 1), True)))
    given = X, Y, torch.tensor([1, 1, 0])
    for backends, full in ((["cpu", "reference"], True), (["cpu"], False)):
        compiled = tenon.torch.compile(module, inputs=given, backends=backends, min_block_size=1, require_full_compilation=full)
        torch.testing.assert_close(compiled(*given), module(*given), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["add", "conv2d", "layer_norm", "softmax", "attention", "reshape of any", "mean", "expand of any", "adaptive", "puts of any"]
)
def test_at_any_batch(name):
    more = {
        "reshape of any": (lambda x: x.reshape(x.shape[0] * 2, -1) + x.shape[0], f(2, 3, 4)),
        "adaptive": (lambda x: F.adaptive_avg_pool2d(x, (3, 5)) + F.adaptive_max_pool2d(x, (3, 5)), IMAGE),
        "puts of any": (lambda x: put(x, x[:, :1], (None, torch.tensor([0, -1]))) + torch.diff(x, prepend=x[:, :1]), X),
        "expand of any": (lambda x: x.unsqueeze(1).expand(x.shape[0], 3, 4) + torch.zeros(x.shape[0], 1, 1), f(2, 4)),
    }
    function, *given = (CASES | more)[name]
    axes = [
        {0: torch.export.Dim.DYNAMIC} if k == 0 or t.shape == given[0].shape or name == "attention" else None for k, t in enumerate(given)
    ]
    compiled = tenon.torch.compile(
        Function(lambda x, *rest: function(x, *rest)), inputs=given, dynamic_shapes=[tuple(axes)], require_full_compilation=True
    )
    for count in (2, 3, 7):
        larger = [torch.cat([t] * count)[: count if name != "x" else None] if a else t for t, a in zip(given, axes, strict=True)]
        torch.testing.assert_close(compiled(*larger), function(*larger), rtol=1e-4, atol=1e-5)
    assert [s.builds for s in compiled.segments.values()] == [1]
