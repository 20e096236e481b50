// SPDX-License-Identifier: Apache-2.0
#include "ir/op.h"

#include "ir/shape_data.h"

namespace tenon::ir {

std::string NodeView::where() const {
  std::string op_name = op ? (op->domain.empty() ? op->name : op->domain + "::" + op->name) : "unknown op";
  return name.empty() ? "node (" + op_name + ")" : "node '" + std::string(name) + "' (" + op_name + ")";
}

static bool holds_integers(const Tensor& t) { return is_integer(t.dtype()) || t.dtype() == DType::boolean; }

std::optional<ShapeData> shape_data_of(const Tensor& tensor) {
  if (!holds_integers(tensor) || tensor.count() > static_cast<int64_t>(kMaxShapeData)) return std::nullopt;
  ShapeData data;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int64_t element = tensor.integer(i);
    constexpr int64_t kEdge = int64_t{1} << 62;
    const bool wrapped = tensor.dtype() == DType::u64 && element < 0;
    if (wrapped || element <= -kEdge || element >= kEdge) return std::nullopt;
    data.push_back(Dim(element));
  }
  return data;
}

static std::optional<Ints> ints_of(const Attribute& a) {
  if (auto* x = std::get_if<Ints>(&a)) return *x;
  if (auto* x = std::get_if<int64_t>(&a)) return Ints{*x};
  if (auto* x = std::get_if<Tensor>(&a); x && holds_integers(*x)) return integers_of(*x);
  return std::nullopt;
}

std::optional<Ints> NodeView::ints(std::string_view attribute, int input) const {
  const Attribute* a = attributes && !attribute.empty() ? attributes->find(attribute) : nullptr;
  if (a) return ints_of(*a);
  if (input < 0 || !has(static_cast<size_t>(input))) return std::nullopt;
  const Operand& operand = inputs[static_cast<size_t>(input)];
  if (operand.constant && holds_integers(*operand.constant)) return integers_of(*operand.constant);
  if (!operand.data) return std::nullopt;
  Ints out;
  for (Dim d : *operand.data) {
    if (!d.is_number()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

std::optional<ShapeData> NodeView::dims(size_t input) const {
  if (!has(input)) return std::nullopt;
  const Operand& operand = inputs[input];
  if (operand.data) return *operand.data;
  return operand.constant ? shape_data_of(*operand.constant) : std::nullopt;
}

}  // namespace tenon::ir
