// SPDX-License-Identifier: Apache-2.0
#include "rewrite/match.h"

#include <fmt/format.h>

#include <cmath>

namespace tenon::rewrite {
namespace {

std::pair<std::string_view, std::string_view> split_name(std::string_view op) {
  const size_t colons = op.rfind("::");
  if (colons == std::string_view::npos) return {"", op};
  return {op.substr(0, colons), op.substr(colons + 2)};
}

/// The largest relative difference of two spellings of one constant.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-7;  // exporters write f32 literals into f64 graphs
    case DType::f16: return 1e-3;
    case DType::bf16: return 8e-3;
    default: return 2e-7;
  }
}

const Tensor* small_tensor(const Graph& graph, ValueId value) {
  if (!value || !graph.value(value).is_constant()) return nullptr;
  return graph.tensor_of(value);
}

}  // namespace

NodeId GraphQuery::producer(ValueId value, std::string_view op) const {
  NodeId id = producer(value);
  if (!id) return {};
  const auto [domain, name] = split_name(op);
  return graph_->node(id).is(domain, name) ? id : NodeId{};
}

NodeId GraphQuery::producer(ValueId value) const {
  if (!value) return {};
  const Value& v = graph_->value(value);
  return v.kind == Value::Kind::result ? v.producer : NodeId{};
}

ValueId GraphQuery::operand(NodeId node, size_t slot) const {
  const Node& n = graph_->node(node);
  return slot < n.explicit_inputs ? n.inputs[slot] : ValueId{};
}

std::optional<double> GraphQuery::number(ValueId value) const {
  const Tensor* t = small_tensor(*graph_, value);
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return std::nullopt;
  const bool whole = is_integer(t->dtype());
  const double first = whole ? static_cast<double>(t->integer(0)) : t->number(0);
  for (int64_t i = 1; i < t->count(); ++i)
    if ((whole ? static_cast<double>(t->integer(i)) : t->number(i)) != first) return std::nullopt;
  return first;
}

bool GraphQuery::is_number(ValueId value, double expected) const {
  const auto found = number(value);
  if (!found) return false;
  if (*found == expected) return true;
  if (expected == 0 || !is_float(dtype(value))) return false;
  return std::abs(*found - expected) <= tolerance_of(dtype(value)) * std::abs(expected);
}

bool GraphQuery::is_tensor(ValueId value, const Tensor& expected) const {
  const Tensor* found = small_tensor(*graph_, value);
  if (!found || found->shape() != expected.shape()) return false;
  const DType mine = found->dtype(), other = expected.dtype();
  if (mine != other && !(is_arithmetic_float(mine) && is_arithmetic_float(other))) return false;
  if (!is_arithmetic_float(mine)) return ir::same(*ir::constant_of(*found), *ir::constant_of(expected));
  for (int64_t i = 0; i < found->count(); ++i) {
    const double a = found->number(i), b = expected.number(i);
    const bool near = a == b || (std::isnan(a) && std::isnan(b)) || (b != 0 && std::abs(a - b) <= tolerance_of(mine) * std::abs(b));
    if (!near) return false;
  }
  return true;
}

std::optional<Ints> GraphQuery::ints(ValueId value) const {
  const Tensor* t = small_tensor(*graph_, value);
  if (!t || !is_integer(t->dtype())) return std::nullopt;
  return integers_of(*t);
}

std::optional<Ints> GraphQuery::ints(NodeId node, std::string_view attribute, int input) const {
  const Node& n = graph_->node(node);
  if (const ir::Attribute* found = n.attributes.find(attribute))
    return std::holds_alternative<Ints>(*found) ? std::optional(std::get<Ints>(*found)) : std::nullopt;
  return input >= 0 ? ints(operand(node, static_cast<size_t>(input))) : std::nullopt;
}

std::optional<int> GraphQuery::axis(NodeId node, std::string_view attribute, int64_t default_axis, ValueId of) const {
  const auto r = rank(of);
  if (!r) return std::nullopt;
  const int64_t axis = graph_->node(node).attributes.integer(attribute, default_axis);
  if (axis < -*r || axis >= *r) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + *r : axis);
}

std::optional<int> GraphQuery::rank(ValueId value) const {
  const DimList* dims = shape(value);
  return dims ? std::optional(static_cast<int>(dims->size())) : std::nullopt;
}

const DimList* GraphQuery::shape(ValueId value) const {
  if (!value) return nullptr;
  const ir::Type& type = graph_->value(value).type;
  return type.kind == ir::Type::Kind::tensor && type.shape ? &*type.shape : nullptr;
}

bool GraphQuery::same_shape(ValueId a, ValueId b) const {
  const DimList* x = shape(a);
  const DimList* y = shape(b);
  if (!x || !y || x->size() != y->size()) return false;
  for (size_t i = 0; i < x->size(); ++i)
    if (!(*x)[i].known_equal((*y)[i])) return false;
  return true;
}

void Match::record_failed_query(ValueId value, std::string expected) const {
  trace_->failed_queries.push_back({value, std::move(expected), nodes.size()});
}
void Match::record_failed_query(ValueId value, double expected) const { record_failed_query(value, fmt::format("{}", expected)); }

}  // namespace tenon::rewrite
