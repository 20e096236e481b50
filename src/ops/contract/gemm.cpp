// SPDX-License-Identifier: Apache-2.0
#include "base/scalar.h"
#include "ops/contract/product.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_gemm {

namespace {

bool flag(const NodeView& view, std::string_view name) { return view.attributes->integer(name, 0) != 0; }

/// The dtype in which alpha * A * B + beta * C is computed, given that of the operands.
DType sum_dtype(DType operands, double alpha, double beta) {
  if (is_float(operands)) return compute_dtype(operands);
  return alpha == 1 && beta == 1 ? operands : DType::f64;
}

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
  const bool has_c = view.has(2) && beta != 0;
  // The sum of products wraps, as MatMul's does. Integers are scaled and added in f64, since the factors are floats, unless these are 1.
  const DType dtype = sum_dtype(view.outputs[0].dtype, alpha, has_c ? beta : 1);
  auto scaled = [&](Expr x, float factor) {
    const Expr y = x.dtype() == dtype ? x : cast(x, dtype);
    return factor == 1 ? y : y * Expr::constant(dtype, factor);
  };
  ContractionEpilogue after;
  if (alpha != 1 || has_c) {
    after = [&](Expr sum, Loop& map) {
      Expr y = scaled(sum, alpha);
      if (has_c) y = y + scaled(to_compute_dtype(load(map, operand_access(view, 2, broadcast_index(*view.type(2).shape, shape)))), beta);
      return y.dtype() == sum.dtype() ? y : cast(y, sum.dtype());
    };
  }
  return contraction_form(std::move(loop), to_compute_dtype(a) * to_compute_dtype(b), view.outputs[0].dtype, shape, after);
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
  const bool has_c = call.has(2) && beta != 0;
  const Sizes step = has_c ? broadcast_strides(call.in[2]->shape(), y.shape()) : Sizes{0, 0};
  auto at_c = [&](int64_t element) { return element / n * step[0] + element % n * step[1]; };
  if (is_float(a.dtype())) {
    std::vector<double> sum = run(numbers_of(a), numbers_of(b));
    for (int64_t i = 0; i < m * n; ++i) {
      sum[i] *= alpha;
      if (has_c) sum[i] += beta * call.in[2]->number(at_c(i));
    }
    store_numbers(y, sum);
    return {};
  }
  std::vector<int64_t> sum = run(integers_of(a), integers_of(b));
  const bool in_f64 = sum_dtype(y.dtype(), alpha, has_c ? beta : 1) == DType::f64;
  for (int64_t i = 0; i < m * n; ++i) {
    if (in_f64) {
      const double product = alpha * number_of_integer(y.dtype(), wrap_integer(y.dtype(), sum[i]));
      sum[i] = saturate_number(y.dtype(), has_c ? product + beta * call.in[2]->number(at_c(i)) : product);
    } else if (has_c) {
      sum[i] = static_cast<int64_t>(static_cast<uint64_t>(sum[i]) + static_cast<uint64_t>(call.in[2]->integer(at_c(i))));
    }
  }
  store_integers(y, sum);
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
                 "f16[7,9], f16[9,3], f16[7,3]", "i32[2,3], i32[3,2], i32[2]", "i32[2,3], i32[3,2], i32[2]; alpha=0.5, beta=1.5",
                 "u64[2,3], u64[3,2]; alpha=0.5", "f32[3,0], f32[0,2], f32[1,2]", "f64[2,3], f64[3,2]; alpha=0.25",
                 "f32[3,4], f32[4,5], f32[3,5]; beta=0.0"}},
};

}  // namespace tenon::ops::op_gemm
