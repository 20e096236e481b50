// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/shape_data.h"

#include <cmath>

#include "ops/infer/broadcast.h"

namespace tenon::ops {

namespace {
/// Is the number one of the dtype's values? Where it is not, the op wraps or rounds, and what it gives is not known.
bool holds(DType dtype, int64_t value) {
  const bool small = bits_of(dtype) == 32;
  if (is_float(dtype))
    return small ? static_cast<int64_t>(static_cast<float>(value)) == value : static_cast<int64_t>(static_cast<double>(value)) == value;
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (!small) return true;
  return is_signed(dtype) ? value == static_cast<int32_t>(value) : value == static_cast<uint32_t>(value);
}
}  // namespace

void set_data(NodeView& view, size_t k, ShapeData data) {
  if (k >= view.outputs.size() || data.size() > ir::kMaxShapeData) return;
  const DType dtype = view.outputs[k].dtype;
  if (dtype != DType::boolean && (bits_of(dtype) < 32 || is_complex(dtype) || dtype == DType::u64)) return;
  for (Dim d : data) {
    if (d.is_overflow() || (d.is_number() && !holds(dtype, d.value()))) return;
  }
  if (view.output_data.size() < view.outputs.size()) view.output_data.resize(view.outputs.size());
  view.output_data[k] = std::move(data);
}

std::optional<Sizes> static_sizes(const DimList& dims) {
  Sizes out;
  for (Dim d : dims) {
    if (!d.is_number()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

namespace {
/// Elements of a float tensor where all of them are whole. A Dim has no -0: with one in it nothing is known.
std::optional<ShapeData> whole_elements(const Tensor& tensor) {
  if (tensor.count() > static_cast<int64_t>(ir::kMaxShapeData)) return std::nullopt;
  ShapeData out;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double v = tensor.number(i);
    if (!(std::abs(v) <= 1e15) || v != std::trunc(v)) return std::nullopt;  // a NaN is not <= anything
    if (v == 0 && std::signbit(v)) return std::nullopt;
    out.push_back(Dim(static_cast<int64_t>(v)));
  }
  return out;
}
}  // namespace

std::optional<ShapeData> known_elements(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  const ir::Operand& operand = view.inputs[input];
  if (operand.constant && is_float(operand.constant->dtype())) return whole_elements(*operand.constant);
  if (auto data = view.dims(input)) return data;
  if (operand.type.has_rank() && operand.type.count() == Dim(0)) return ShapeData();
  return std::nullopt;
}

std::optional<Ints> known_ints(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  if (view.inputs[input].constant) return integers_of(*view.inputs[input].constant);
  const auto data = known_elements(view, input);
  return data ? static_sizes(*data) : std::nullopt;
}

std::optional<double> known_number(const NodeView& view, size_t input) {
  if (!view.has(input)) return std::nullopt;
  const Tensor* t = view.inputs[input].constant;
  if (t && t->count() == 1) return is_float(t->dtype()) ? t->number(0) : static_cast<double>(t->integer(0));
  const ShapeData* data = view.inputs[input].data;
  if (data && data->size() == 1 && (*data)[0].is_number()) return static_cast<double>((*data)[0].value());
  return std::nullopt;
}

std::optional<int64_t> known_length(const NodeView& view, size_t input) {
  if (!ranks_known(view, {input}) || view.rank(input) != 1) return std::nullopt;
  return view.type(input).dim(0).number();
}

void pass_data(NodeView& view) {
  if (auto data = known_elements(view, 0)) set_data(view, 0, std::move(*data));
}

void propagate_data(NodeView& view, const std::function<std::optional<Dim>(Dim, Dim)>& fn) {
  if (view.outputs.empty() || !view.outputs[0].has_rank()) return;
  const auto a = broadcast_elements(view, 0, *view.outputs[0].shape), b = broadcast_elements(view, 1, *view.outputs[0].shape);
  if (!a || !b) return;
  ShapeData out;
  for (size_t i = 0; i < a->size(); ++i) {
    auto v = fn((*a)[i], (*b)[i]);
    if (!v) return;
    out.push_back(*v);
  }
  set_data(view, 0, std::move(out));
}

void propagate_data(NodeView& view, const std::function<std::optional<Dim>(Dim)>& fn) {
  const auto a = known_elements(view, 0);
  if (!a) return;
  ShapeData out;
  for (Dim d : *a) {
    auto v = fn(d);
    if (!v) return;
    out.push_back(*v);
  }
  set_data(view, 0, std::move(out));
}

void pick_data(NodeView& view, const std::function<std::vector<int64_t>(const std::vector<int64_t>& index)>& source) {
  if (!ranks_known(view, {0}) || !view.outputs[0].has_rank()) return;
  const auto data = known_elements(view, 0);
  const auto from = static_sizes(*view.type(0).shape), to = static_sizes(*view.outputs[0].shape);
  const Dim count = view.outputs[0].count();
  if (!data || !from || !to || count.value() > static_cast<int64_t>(ir::kMaxShapeData)) return;
  ShapeData out;
  for (int64_t i = 0; i < count.value(); ++i) {
    std::vector<int64_t> at(to->size());
    int64_t rest = i, position = 0;
    for (size_t d = at.size(); d-- > 0; rest /= (*to)[d]) at[d] = rest % (*to)[d];
    const std::vector<int64_t> picked = source(at);
    for (size_t d = 0; d < picked.size(); ++d) position = position * (*from)[d] + picked[d];
    out.push_back((*data)[static_cast<size_t>(position)]);
  }
  set_data(view, 0, std::move(out));
}

}  // namespace tenon::ops
