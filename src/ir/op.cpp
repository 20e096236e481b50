// SPDX-License-Identifier: Apache-2.0
#include "ir/op.h"

namespace tenon::ir {

std::string NodeView::where() const {
  std::string op_name = op ? (op->domain.empty() ? op->name : op->domain + "::" + op->name) : "unknown op";
  return name.empty() ? "node (" + op_name + ")" : "node '" + std::string(name) + "' (" + op_name + ")";
}

static bool holds_integers(const Tensor& t) { return is_integer(t.dtype()) || t.dtype() == DType::boolean; }

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
  if (!operand.constant || !holds_integers(*operand.constant)) return std::nullopt;
  ShapeData out;
  for (int64_t v : integers_of(*operand.constant)) out.push_back(Dim(v));
  return out;
}

}  // namespace tenon::ir
