// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_top_k {

namespace {

Result<void> infer_top_k(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  Type values(dtype_of(view, 0));
  if (ranks_known(view, {0})) {
    const int axis = TRY(normalise_axis(view, view.attributes->integer("axis", -1), view.rank(0)));
    const auto k = known_elements(view, 1);
    values.shape = view.type(0).shape;
    const bool known = k && k->size() == 1;
    const Dim kept = known ? (*k)[0] : view.symbols->fresh();
    if (known) TRY(require_at_least(view, view.type(0).dim(axis), kept, "the axis has fewer than K elements"));
    (*values.shape)[static_cast<size_t>(axis)] = kept;
  }
  Type indices = values;
  indices.dtype = DType::i64;
  set_output(view, 0, std::move(values));
  set_output(view, 1, std::move(indices));
  return {};
}

/// Whether element a comes before b. Equal elements keep their order; NaN counts as largest.
bool better(const Tensor& x, int64_t a, int64_t b, bool largest) {
  if (is_float(x.dtype())) {
    const double u = x.number(a), v = x.number(b);
    if (std::isnan(u) || std::isnan(v)) return largest ? std::isnan(u) && !std::isnan(v) : !std::isnan(u) && std::isnan(v);
    return largest ? u > v : u < v;
  }
  const int64_t u = x.integer(a), v = x.integer(b);
  if (x.dtype() == DType::u64)
    return largest ? static_cast<uint64_t>(u) > static_cast<uint64_t>(v) : static_cast<uint64_t>(u) < static_cast<uint64_t>(v);
  return largest ? u > v : u < v;
}

Result<void> reference_of_top_k(Call& call) {
  const Tensor& x = *call.in[0];
  const size_t axis = static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", -1), x.rank())));
  const bool largest = call.view.attributes->integer("largest", 1) != 0;
  const int64_t k = int_of(call, 1, 0), size = x.shape()[axis];
  if (k < 0 || k > size)
    return refuse(call.view, Code::bad_input, "k is larger than the axis")
        .expected("0 to " + std::to_string(size))
        .found(std::to_string(k));
  Sizes shape = x.shape();
  shape[axis] = k;
  Tensor* values = TRY(call.make(0, shape));
  Tensor* indices = call.out.size() > 1 ? TRY(call.make(1, shape)) : nullptr;
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < shape.size(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
  std::vector<int64_t> order(static_cast<size_t>(size));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t n, int64_t length) { return (o * length + n) * inner + i; };
      for (int64_t n = 0; n < size; ++n) order[static_cast<size_t>(n)] = n;
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return better(x, at(a, size), at(b, size), largest) || (a < b && !better(x, at(b, size), at(a, size), largest));
      });
      for (int64_t n = 0; n < k; ++n) {
        copy_element(*values, at(n, k), x, at(order[static_cast<size_t>(n)], size));
        if (indices) indices->set_integer(at(n, k), order[static_cast<size_t>(n)]);
      }
    }
  }
  return {};
}

}  // namespace

OP(top_k) {
    .name = "TopK",
    .since_version = 24,
    .inputs = {{"x", "k"}},
    .outputs = {{"values", "indices"}},
    .attributes = {{"axis: int = -1", "largest: int = 1 since 11", "sorted: int = 1 since 11"}},
    .keeps_elements = true,
    .infer = infer_top_k,
    .reference = reference_of_top_k,
    .upgrade = [](ir::Graph& graph, ir::NodeId node, int opset) -> Result<void> {
      if (opset >= 10) return {};
      TRY(attribute_to_operand(graph, node, "k", 1));
      const Tensor* k = graph.tensor_of(graph.node(node).inputs[1]);
      if (k && k->rank() == 0) graph.set_operand(node, 1, graph.add_constant(ir::constant_of(k->reshaped({1}))));
      return {};
    },
    .lowest_opset = [](const NodeView& view) { return is_float(dtype_of(view, 0)) ? 10 : 11; },
    .samples = {{"f32[2,5], i64[1] = [3]; outputs=2", "f32[4,2], i64[1] = [2]; axis=0, largest=0, outputs=2",
                 "i64[6] in 0..3, i64[1] = [6]; outputs=2", "f16[3], i64[1] = [0]; outputs=2",
                 "f32[4] = [nan, 1, inf, -1], i64[1] = [2]; outputs=2"}},
};

}  // namespace tenon::ops::op_top_k
