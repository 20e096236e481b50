// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/product.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_gemm {

namespace {

bool flag(const NodeView& view, std::string_view name) { return view.attributes->integer(name, 0) != 0; }

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  TRY(require_same_dtype(view, 0, 1));
  if (view.has(2)) TRY(require_same_dtype(view, 0, 2));
  TRY(require_rank(view, 0, 2));
  TRY(require_rank(view, 1, 2));
  Type out(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    const bool ta = flag(view, "transA"), tb = flag(view, "transB");
    const Type &a = view.type(0), &b = view.type(1);
    TRY(require_equal(view, a.dim(ta ? 0 : 1), b.dim(tb ? 1 : 0), "inner sizes of A and B"));
    out.shape = DimList{a.dim(ta ? 1 : 0), b.dim(tb ? 0 : 1)};
    if (view.has(2) && view.type(2).has_rank())
      TRY(require_broadcastable(view, *view.type(2).shape, *out.shape, "sizes of C and of the product"));
  }
  set_output(view, 0, std::move(out));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.outputs[0].shape;
  const bool ta = flag(view, "transA"), tb = flag(view, "transB");
  const float alpha = view.attributes->number("alpha", 1), beta = view.attributes->number("beta", 1);
  Loop loop;
  loop.axes = parallel_axes(shape);
  loop.axes.push_back({Axis::Kind::reduced, view.type(0).dim(ta ? 0 : 1)});
  const Expr m = Expr::axis(0), n = Expr::axis(1), k = Expr::axis(2);
  const Expr a = load(loop, operand_access(view, 0, ta ? std::vector{k, m} : std::vector{m, k}));
  const Expr b = load(loop, operand_access(view, 1, tb ? std::vector{n, k} : std::vector{k, n}));
  // Integers are scaled in f64, as the factors are floats.
  auto scaled = [](Expr x, float factor) {
    if (factor == 1) return x;
    const DType dtype = x.dtype();
    if (is_float(dtype)) return x * Expr::constant(dtype, factor);
    return cast(cast(x, DType::f64) * Expr::constant(DType::f64, factor), dtype);
  };
  ContractionEpilogue after;
  if (alpha != 1 || (view.has(2) && beta != 0)) {
    after = [&](Expr sum, Loop& map) {
      sum = scaled(sum, alpha);
      if (!view.has(2) || beta == 0) return sum;
      return sum + scaled(widen(load(map, operand_access(view, 2, broadcast_index(*view.type(2).shape, shape)))), beta);
    };
  }
  return contraction_form(std::move(loop), widen(a) * widen(b), view.outputs[0].dtype, shape, after);
}

Result<void> evaluate(Call& call) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const bool ta = flag(call.view, "transA"), tb = flag(call.view, "transB");
  const double alpha = call.view.attributes->number("alpha", 1), beta = call.view.attributes->number("beta", 1);
  const int64_t m = a.shape()[ta], k = a.shape()[!ta], n = b.shape()[!tb];
  if (b.shape()[tb] != k) return refuse(call.view, Code::shape_mismatch, "inner sizes differ");
  Tensor& y = *TRY(call.make(0, {m, n}));
  auto run = [&](auto x, auto w) {
    if (ta) x = transposed(x, k, m);
    if (tb) w = transposed(w, n, k);
    decltype(x) c(m * n);
    multiply_add(x.data(), w.data(), c.data(), m, n, k);
    return c;
  };
  std::vector<double> sum;
  if (is_float(a.dtype())) {
    sum = run(numbers_of(a), numbers_of(b));
  } else {
    const std::vector<int64_t> exact = run(integers_of(a), integers_of(b));
    if (alpha == 1 && !call.has(2)) return store_integers(y, exact), Result<void>();
    sum.assign(exact.begin(), exact.end());
  }
  const Sizes step = call.has(2) ? broadcast_strides(call.in[2]->shape(), y.shape()) : Sizes{0, 0};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      sum[i * n + j] *= alpha;
      if (call.has(2)) sum[i * n + j] += beta * call.in[2]->number(i * step[0] + j * step[1]);
    }
  }
  store_numbers(y, sum);
  return {};
}

Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset < 7) graph.erase_attribute(node, "broadcast");
  return {};
}

}  // namespace

OP(gemm) {
    .name = "Gemm",
    .since_version = 13,
    .inputs = {{"A", "B", "C?"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 1.0", "beta: float = 1.0", "transA: int = 0", "transB: int = 0"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView& view) { return !view.has(2)                     ? 11
                                                      : is_integer(view.type(0).dtype) ? 9
                                                                                       : 7; },
    .samples = {{"f32[3,4], f32[4,5], f32[5]", "f32[3,4], f32[4,5]",
                 "f32[4,3], f32[5,4], f32[3,1]; transA=1, transB=1, alpha=0.5, beta=2.0", "f32[3,4], f32[5,4], f32[]; transB=1",
                 "f16[7,9], f16[9,3], f16[7,3]", "i32[2,3], i32[3,2], i32[2]", "f32[3,0], f32[0,2], f32[1,2]",
                 "f64[2,3], f64[3,2]; alpha=0.25", "f32[3,4], f32[4,5], f32[3,5]; beta=0.0"}},
};

}  // namespace tenon::ops::op_gemm
