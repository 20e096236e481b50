// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"

#include <numeric>

#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops {

std::vector<Type> body_outputs(const NodeView& view, size_t body) {
  std::vector<Type> out;
  for (ir::ValueId v : view.bodies[body]->outputs()) out.push_back(view.bodies[body]->value(v).type);
  return out;
}

Result<void> require_formal_inputs(const NodeView& view, size_t formal) {
  for (size_t b = 0; b < view.bodies.size(); ++b) {
    const size_t found = view.bodies[b]->inputs().size() - view.body_captures[b];
    if (found == formal) continue;
    return refuse(view, Code::bad_graph, "its body has another number of inputs")
        .expected(std::to_string(formal))
        .found(std::to_string(found));
  }
  return {};
}

std::vector<Type> body_input_types(const NodeView& view, size_t body) {
  std::vector<Type> out;
  for (ir::ValueId v : view.bodies[body]->inputs()) out.push_back(view.bodies[body]->value(v).type);
  return out;
}

Result<Type> common_type(const NodeView& view, const Type& a, const Type& b) {
  if (a.dtype != DType::none && b.dtype != DType::none && a.dtype != b.dtype) {
    return refuse(view, Code::dtype_mismatch, "the bodies give different dtypes").expected(a.text()).found(b.text());
  }
  if (a.kind != b.kind && !is_unknown(a) && !is_unknown(b))
    return refuse(view, Code::dtype_mismatch, "the bodies give different kinds of values").expected(a.text()).found(b.text());
  if (!a.is_tensor() || !b.is_tensor()) return is_unknown(a) ? b : is_unknown(b) ? a : common_element_type(view, a, b);
  Type out(a.dtype == DType::none ? b.dtype : a.dtype);
  out.kind = a.kind;
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return out;
  out.shape = a.shape;
  for (int i = 0; i < a.rank(); ++i) {
    if (!a.dim(i).known_equal(b.dim(i))) (*out.shape)[static_cast<size_t>(i)] = view.symbols->fresh();
  }
  return out;
}

namespace {
constexpr std::string_view kCarried = "carried";
bool is_carried(Dim d) { return d.node() && d.node()->kind == DimNode::Kind::symbol && d.node()->name.starts_with(kCarried); }
}  // namespace

/// carried_type of a container. Where an optional is carried and the body returns its element, the carried type stays an optional.
static Type carried_container_type(const NodeView& view, const Type& initial, const Type& current, const Type& next) {
  Type out = initial;
  if (out.dtype == DType::none) out.dtype = next.dtype;
  if (!out.has_rank() || is_unknown(next)) return out;
  if (!next.has_rank() || next.rank() != out.rank()) {
    out.shape.reset();
    return out;
  }
  for (int i = 0; i < out.rank(); ++i) {
    Dim& d = (*out.shape)[static_cast<size_t>(i)];
    if (current.kind == out.kind && current.has_rank() && current.rank() == out.rank() && is_carried(current.dim(i))) d = current.dim(i);
    else if (!d.is_number() || !next.dim(i).known_equal(d)) d = view.symbols->fresh(kCarried);
  }
  return out;
}

Type carried_type(const NodeView& view, const Type& initial, const Type& current, const Type& next) {
  if (!initial.is_tensor()) return carried_container_type(view, initial, current, next);
  Type out = initial;
  if (out.dtype == DType::none) out.dtype = next.dtype;
  if (!initial.has_rank() || !next.has_rank()) return out;
  if (initial.rank() != next.rank()) {
    out.shape.reset();
    return out;
  }
  for (int i = 0; i < initial.rank(); ++i) {
    Dim& d = (*out.shape)[static_cast<size_t>(i)];
    if (current.has_rank() && current.rank() == initial.rank() && is_carried(current.dim(i))) d = current.dim(i);
    else if (!next.dim(i).known_equal(d)) d = view.symbols->fresh(kCarried);
  }
  return out;
}

Type final_type(const NodeView& view, const Type& initial, const Type& carried) {
  Type out = carried;
  if (!carried.is_tensor()) return out;
  if (!initial.has_rank() || !carried.has_rank() || initial.rank() != carried.rank()) return out;
  for (int i = 0; i < out.rank(); ++i) {
    if (!carried.dim(i).known_equal(initial.dim(i))) (*out.shape)[static_cast<size_t>(i)] = view.symbols->fresh();
  }
  return out;
}

size_t first_capture(const NodeView& view, size_t body) {
  return std::accumulate(view.body_captures.begin(), view.body_captures.begin() + body, view.explicit_inputs);
}

std::vector<Tensor> captures_of(const Call& call, size_t body) {
  const auto captured = call.in.subspan(first_capture(call.view, body), call.view.body_captures[body]);
  std::vector<Tensor> out;
  for (const Tensor* t : captured) out.push_back(*t);
  return out;
}

size_t results_of_body(const NodeView& view, size_t others) {
  const size_t outputs = view.bodies.empty() ? 0 : view.bodies[0]->outputs().size();
  return outputs > others ? outputs - others : 1;
}

}  // namespace tenon::ops
