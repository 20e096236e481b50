// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/nest_properties.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::codegen {

bool is_transcendental(ExprOp op) {
  switch (op) {
    case ExprOp::exp:
    case ExprOp::log:
    case ExprOp::log1p:
    case ExprOp::expm1:
    case ExprOp::sin:
    case ExprOp::cos:
    case ExprOp::tan:
    case ExprOp::asin:
    case ExprOp::acos:
    case ExprOp::atan:
    case ExprOp::sinh:
    case ExprOp::cosh:
    case ExprOp::tanh:
    case ExprOp::asinh:
    case ExprOp::acosh:
    case ExprOp::atanh:
    case ExprOp::erf:
    case ExprOp::pow: return true;
    default: return false;
  }
}

namespace {

bool mentions_unvisited(const Expr& e, ExprOp leaf, int index, std::unordered_set<const ExprNode*>& seen) {
  if (!e) return false;
  if (e.op() == leaf) return index < 0 || e->index == index;
  if (e.args().empty() || !seen.insert(e.get()).second) return false;
  return std::ranges::any_of(e.args(), [&](const Expr& a) { return mentions_unvisited(a, leaf, index, seen); });
}

bool is_input(const Expr& e, int index) { return e && e.op() == ExprOp::input && e->index == index; }
bool is_axis(const Expr& e, int index) { return e && e.op() == ExprOp::axis && e->index == index; }

}  // namespace

bool mentions(const Expr& e, ExprOp leaf, int index) {
  std::unordered_set<const ExprNode*> seen;
  return mentions_unvisited(e, leaf, index, seen);
}

namespace {

/// The values that a body computes or loads, each after its operands; numbers and positions are none.
struct Values {
  std::vector<const ExprNode*> order;
  std::unordered_map<const ExprNode*, size_t> place;

  explicit Values(const Nest& nest) {
    for (const NestOutput& o : nest.outputs) add(o.value);
  }
  void add(const Expr& e) {
    if (!e || e.op() == ExprOp::constant || e.op() == ExprOp::axis || e.op() == ExprOp::dim || place.contains(e.get())) return;
    for (const Expr& a : e.args()) add(a);
    place.emplace(e.get(), order.size());
    order.push_back(e.get());
  }
};

BodyCost cost_of(const Values& values) {
  BodyCost cost;
  for (const ExprNode* n : values.order)
    if (n->op != ExprOp::input) is_transcendental(n->op) ? ++cost.transcendental : ++cost.arithmetic;
  return cost;
}

int max_live_values(const Values& values) {
  const std::vector<const ExprNode*>& order = values.order;
  std::vector<size_t> last(order.size());  // who reads it last; itself: it is stored at once
  for (size_t k = 0; k < order.size(); ++k) {
    last[k] = k;
    for (const Expr& a : order[k]->args)
      if (auto found = values.place.find(a.get()); found != values.place.end()) last[found->second] = k;
  }
  std::vector<int> ends(order.size(), 0);
  for (size_t reader : last) ++ends[reader];
  int live = 0, most = 0;
  for (int ending : ends) {
    most = std::max(most, ++live);
    live -= ending;
  }
  return most;
}

}  // namespace

BodyCost cost_of(const Nest& nest) {
  BodyCost cost = cost_of(Values(nest));
  cost.loads = static_cast<int>(nest.accesses.size());
  cost.indirect = is_indirect(nest);
  return cost;
}

bool is_indirect(const Nest& nest) {
  return std::ranges::any_of(nest.accesses, [](const NestAccess& a) {
    return mentions(a.flat, ExprOp::input) || std::ranges::any_of(a.index, [](const Expr& e) { return mentions(e, ExprOp::input); });
  });
}

bool scatters(const Nest& nest) {
  return std::ranges::any_of(nest.outputs, [](const NestOutput& o) {
    return mentions(o.flat, ExprOp::input) || std::ranges::any_of(o.index, [](const Expr& e) { return mentions(e, ExprOp::input); });
  });
}

int max_live_values(const Nest& nest) { return max_live_values(Values(nest)); }

bool within_budget(const Nest& nest) {
  const Values values(nest);
  const BodyCost cost = cost_of(values);
  return cost.transcendental <= kBodyBudget.transcendental && cost.arithmetic + cost.transcendental <= kBodyBudget.operations &&
         max_live_values(values) <= kBodyBudget.live;
}

bool moves_along(const NestAccess& access, int axis) {
  return mentions(access.flat, ExprOp::axis, axis) ||
         std::ranges::any_of(access.index, [&](const Expr& e) { return mentions(e, ExprOp::axis, axis); });
}

bool is_axis_of_condition(const Nest& nest, int axis) {
  return nest.condition >= 0 && moves_along(nest.accesses[static_cast<size_t>(nest.condition)], axis);
}

bool is_joint_map(const Nest& nest) {
  const auto writes_own_element = [&](const NestOutput& o) {
    if (o.within || o.combine != ops::Combine::none || o.index.size() != nest.axes.size()) return false;
    for (size_t k = 0; k < o.index.size(); ++k)
      if (!is_axis(o.index[k], static_cast<int>(k))) return false;
    return true;
  };
  return nest.condition < 0 &&
         std::ranges::all_of(
             nest.axes, [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; }) &&
         std::ranges::all_of(nest.outputs, writes_own_element);
}

bool is_map(const Nest& nest) { return nest.outputs.size() == 1 && is_joint_map(nest); }

bool reads_own_element(const NestAccess& a, const Nest& map, const Plan& plan) {
  if (a.flat || a.within || a.index.size() != map.axes.size()) return false;
  for (size_t d = 0; d < a.index.size(); ++d) {
    if (!is_axis(a.index[d], static_cast<int>(d), map)) return false;
    if (!map.axes[d].extent.known_equal(plan.arrays[a.array].shape[d])) return false;
  }
  return true;
}

bool is_view(const Nest& nest) {
  return is_map(nest) && nest.accesses.size() == 1 && is_input(nest.outputs[0].value, 0) &&
         nest.accesses[0].dtype == nest.outputs[0].dtype && !is_indirect(nest);
}

namespace {

ContractOperand factor_of(const Expr& value, const Nest& nest) {
  ContractOperand out{value, {}};
  for (size_t k = 0; k < nest.accesses.size(); ++k)
    if (mentions(value, ExprOp::input, static_cast<int>(k))) out.accesses.push_back(static_cast<int>(k));
  return out;
}

bool is_byte_as_number(const Expr& e) {
  return e.op() == ExprOp::cast && (e.args()[0].dtype() == DType::u8 || e.args()[0].dtype() == DType::i8);
}

}  // namespace

std::optional<std::array<ContractOperand, 2>> factors_of(const Nest& nest) {
  if (nest.outputs.size() != 1 || is_indirect(nest)) return std::nullopt;
  const NestOutput& o = nest.outputs[0];
  if (o.combine != ops::Combine::sum || !o.value || o.value.op() != ExprOp::mul || o.within) return std::nullopt;
  if (std::ranges::any_of(nest.axes, [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::scanned; })) return std::nullopt;
  std::array<ContractOperand, 2> out{factor_of(o.value.args()[0], nest), factor_of(o.value.args()[1], nest)};
  std::vector<int> read = out[0].accesses;
  read.insert(read.end(), out[1].accesses.begin(), out[1].accesses.end());
  std::ranges::sort(read);
  const bool apart = read.size() == nest.accesses.size() && std::ranges::adjacent_find(read) == read.end();
  const auto usable = [&](const ContractOperand& f) {
    return !f.accesses.empty() && f.value.dtype() == o.dtype && !mentions(f.value, ExprOp::axis);
  };
  const bool of_bytes = o.dtype == DType::i32 && (is_byte_as_number(out[0].value) || is_byte_as_number(out[1].value));
  const bool summed = o.dtype == DType::f32 || of_bytes;
  return apart && summed && usable(out[0]) && usable(out[1]) ? std::optional(std::move(out)) : std::nullopt;
}

bool is_sum_of_products(const Nest& nest) {
  const auto factors = factors_of(nest);
  return factors && (*factors)[0].is_load() && (*factors)[1].is_load();
}

}  // namespace tenon::codegen
