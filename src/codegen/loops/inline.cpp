// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/inline.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "codegen/loops/collect.h"

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

bool mentions_unseen(const Expr& e, ExprOp leaf, int index, std::unordered_set<const ExprNode*>& seen) {
  if (!e) return false;
  if (e.op() == leaf) return index < 0 || e->index == index;
  if (e.args().empty() || !seen.insert(e.get()).second) return false;
  return std::ranges::any_of(e.args(), [&](const Expr& a) { return mentions_unseen(a, leaf, index, seen); });
}

bool is_input(const Expr& e, int index) { return e && e.op() == ExprOp::input && e->index == index; }
bool is_axis(const Expr& e, int index) { return e && e.op() == ExprOp::axis && e->index == index; }

}  // namespace

bool mentions(const Expr& e, ExprOp leaf, int index) {
  std::unordered_set<const ExprNode*> seen;
  return mentions_unseen(e, leaf, index, seen);
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

int most_live(const Values& values) {
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

int most_live(const Nest& nest) { return most_live(Values(nest)); }

bool within_budget(const Nest& nest) {
  const Values values(nest);
  const BodyCost cost = cost_of(values);
  return cost.transcendental <= kBodyBudget.transcendental && cost.arithmetic + cost.transcendental <= kBodyBudget.operations &&
         most_live(values) <= kBodyBudget.live;
}

bool walks(const NestAccess& access, int axis) {
  return mentions(access.flat, ExprOp::axis, axis) ||
         std::ranges::any_of(access.index, [&](const Expr& e) { return mentions(e, ExprOp::axis, axis); });
}

bool is_axis_of_condition(const Nest& nest, int axis) {
  return nest.condition >= 0 && walks(nest.accesses[static_cast<size_t>(nest.condition)], axis);
}

bool is_joint_map(const Nest& nest) {
  const auto writes_own_place = [&](const NestOutput& o) {
    if (o.within || o.combine != ops::Combine::none || o.index.size() != nest.axes.size()) return false;
    for (size_t k = 0; k < o.index.size(); ++k)
      if (!is_axis(o.index[k], static_cast<int>(k))) return false;
    return true;
  };
  return nest.condition < 0 &&
         std::ranges::all_of(
             nest.axes, [](const ops::Axis& a) { return a.kind == ops::Axis::Kind::parallel; }) &&
         std::ranges::all_of(nest.outputs, writes_own_place);
}

bool is_map(const Nest& nest) { return nest.outputs.size() == 1 && is_joint_map(nest); }

bool reads_own_place(const NestAccess& a, const Nest& map, const Plan& plan) {
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

void rewrite(Nest& nest, const std::function<Expr(const ExprNode&)>& leaf) {
  auto index = [&](Expr& e) {
    if (e) e = simplify(substitute(e, leaf));
  };
  auto value = [&](Expr& e) {
    if (e) e = substitute(e, leaf);
  };
  for (NestOutput& o : nest.outputs) {
    value(o.value);
    for (Expr& e : o.index) index(e);
    index(o.flat);
    value(o.within);
  }
  for (NestAccess& a : nest.accesses) {
    for (Expr& e : a.index) index(e);
    index(a.flat);
    value(a.within);
    value(a.fill);
  }
}

namespace {

/// A view needs no new access: the one that reads it reads what the view reads.
void inline_view(const NestAccess& seen, Nest& consumer, size_t access, const Plan& plan) {
  NestAccess& a = consumer.accesses[access];
  auto leaf = [&](const ExprNode& n) -> Expr { return n.op == ExprOp::axis ? a.index[n.index] : Expr(); };
  NestAccess moved = seen;
  for (Expr& e : moved.index) e = simplify(substitute(e, leaf));
  if (moved.flat) moved.flat = simplify(substitute(moved.flat, leaf));
  if (moved.within) moved.within = substitute(moved.within, leaf);
  if (a.within) {
    moved.within = a.within;
    moved.fill = a.fill;
  }
  a = std::move(moved);
  resolve_reshapes(a, consumer, plan);
}

}  // namespace

Inlined inline_into(const Nest& producer, Nest& consumer, size_t access, const Plan& plan) {
  const NestAccess from = consumer.accesses[access];
  const NestOutput& made = producer.outputs[0];
  if (from.flat || from.index.size() != producer.axes.size()) return Inlined::refused;
  if (is_view(producer) && !(from.within && producer.accesses[0].within)) {
    inline_view(producer.accesses[0], consumer, access, plan);
    consumer.nodes.insert(consumer.nodes.end(), producer.nodes.begin(), producer.nodes.end());
    return Inlined::in_place;
  }
  const int base = static_cast<int>(consumer.accesses.size());
  // Input k of the producer becomes access base + k; its axes become the places that the consumer reads.
  auto leaf = [&](const ExprNode& n) -> Expr {
    if (n.op == ExprOp::axis) return from.index[n.index];
    if (n.op == ExprOp::input) return Expr::input(base + n.index, n.dtype);
    return Expr();
  };
  std::vector<NestAccess> added;
  for (const NestAccess& a : producer.accesses) {
    NestAccess moved = a;
    for (Expr& e : moved.index) e = simplify(substitute(e, leaf));
    if (moved.flat) moved.flat = simplify(substitute(moved.flat, leaf));
    if (moved.within) moved.within = simplify(substitute(moved.within, leaf));
    if (moved.fill) moved.fill = substitute(moved.fill, leaf);
    if (from.within) {
      moved.within = moved.within ? logical_and(moved.within, from.within) : from.within;
      if (!moved.fill) moved.fill = is_float(moved.dtype) ? Expr::constant(moved.dtype, 0) : Expr::integer(moved.dtype, 0);
    }
    added.push_back(std::move(moved));
  }
  Expr body = substitute(made.value, leaf);
  if (from.within) body = select(from.within, body, from.fill);
  auto replace = [&](const ExprNode& n) -> Expr { return n.op == ExprOp::input && n.index == static_cast<int>(access) ? body : Expr(); };
  consumer.accesses.insert(consumer.accesses.end(), added.begin(), added.end());
  rewrite(consumer, replace);
  for (size_t k = base; k < consumer.accesses.size(); ++k) resolve_reshapes(consumer.accesses[k], consumer, plan);
  // The replaced access is gone: close the gap.
  consumer.accesses.erase(consumer.accesses.begin() + static_cast<long>(access));
  rewrite(consumer, [&](const ExprNode& n) -> Expr {
    return n.op == ExprOp::input && n.index > static_cast<int>(access) ? Expr::input(n.index - 1, n.dtype) : Expr();
  });
  if (mentions(made.value, ExprOp::axis))
    for (NestOutput& o : consumer.outputs) o.value = simplify(o.value);  // positions are compared in sight of each other now
  consumer.nodes.insert(consumer.nodes.end(), producer.nodes.begin(), producer.nodes.end());
  return Inlined::appended;
}

}  // namespace tenon::codegen
