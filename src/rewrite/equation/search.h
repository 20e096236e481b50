// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// A part of an equation that did not match.
struct Mismatch {
  enum class Kind : uint8_t {
    op,          ///< the value is not the result of such an op
    result,      ///< it is another result of such an op
    missing,     ///< the operand is missing
    present,     ///< the operand must be missing
    number,      ///< it is no constant with this number, or this tensor
    ints,        ///< it is no constant with these integers
    variable,    ///< the name is bound to another value
    attribute,   ///< the attribute is missing or another one
    arity,       ///< the node has another number of operands
    condition,   ///< the condition does not hold
    other_root,  ///< no node matches a root after the first
  } kind = Kind::op;
  int index = -1;            ///< in Equation::terms; for `condition` in Equation::conditions
  int attribute_index = -1;  ///< attribute: in the term's attributes
  ValueId value;             ///< the graph value that was compared
  NodeId node;               ///< attribute, arity: the graph node that was compared
  ValueId expected;          ///< variable: what the name is bound to
};

/// No trace: all calls of the trace are compiled away.
struct NoTrace {
  static constexpr bool kOn = false;
};

/// Matches the left side of an equation by backtracking. The goals that are still to be solved ("this term matches that value") form a
/// linked list on the stack; where a goal can be solved in several ways they are tried in order. Trace: NoTrace, or a class that observes
/// the search: kOn; `ValueId resolve(const Match&, ValueId)`, the value that is matched in place of an operand; `bool is_waived(const
/// Mismatch&, const Match&, const Bindings&)`, called for each mismatch, which counts as a match where it returns true; `void
/// add_depth(int)`, by how many the number of matched terms has changed.
template <class Trace = NoTrace>
class Search {
 public:
  Search(const Equation& equation, Match& match, Trace& trace) : equation_(equation), match_(match), trace_(trace) {
    bindings_.slots.assign(equation_.variables.size(), {});
    for (const Variable& v : equation_.variables)
      if (v.kind == Variable::Kind::variadic) bindings_.variadic_values.resize(equation_.variables.size());
  }

  bool run() {
    match_.nodes.clear();
    return start_root();
  }
  Bindings& bindings() { return bindings_; }
  /// Whether the search ended at its limit of steps.
  bool gave_up() const { return steps_ > kMostSteps; }

 private:
  using Slot = Bindings::Slot;
  /// Goals of one attempt at one node; more is refused, so that no pattern takes for ever.
  static constexpr uint32_t kMostSteps = 1u << 20;

  /// term >= 0: the term matches `value`. term < 0: the operands of `op_term` from `pattern_operand` on match those of `node` from
  /// `node_operand` on.
  struct Goal {
    int term;
    ValueId value;
    const Goal* next;
    const Term* op_term = nullptr;
    NodeId node{};
    uint32_t pattern_operand = 0, node_operand = 0;
    uint64_t used_operands = 0;  ///< of a commutative node: a bit for each operand that is matched already
  };

  bool is_waived([[maybe_unused]] const Mismatch& mismatch) {
    if constexpr (Trace::kOn) return trace_.is_waived(mismatch, match_, bindings_);
    return false;
  }
  ValueId resolve(ValueId value) const {
    if constexpr (Trace::kOn) return trace_.resolve(match_, value);
    return value;
  }
  bool solve_next(const Goal* goal) {
    if constexpr (Trace::kOn) {
      trace_.add_depth(1);
      if (solve(goal->next)) return true;
      trace_.add_depth(-1);
      return false;
    }
    return solve(goal->next);
  }

  bool start_root() {
    const size_t k = bindings_.roots.size();
    if (k == equation_.left.size()) return conditions();
    if (k == 0) return try_root(match_.root());
    for (NodeId candidate : other_root_candidates(equation_.left[k]))
      if (try_root(candidate)) return true;
    return is_waived({Mismatch::Kind::other_root, equation_.left[k], -1, {}, {}, {}}) && false;
  }

  /// The root matches the result of `node` that its term names; of alternatives, the one that the first of them names.
  bool try_root(NodeId node) {
    const int root = equation_.left[bindings_.roots.size()];
    const Term* term = &equation_.terms[root];
    while (term->kind == Term::Kind::alternatives) term = &equation_.terms[term->operands[0]];
    const Node& n = match_.node(node);
    if (term->result >= n.outputs.size() || !n.outputs[term->result]) return false;
    const ValueId value = n.outputs[term->result];
    if (std::ranges::find(bindings_.roots, value) != bindings_.roots.end()) return false;
    bindings_.roots.push_back(value);
    const Goal goal{root, value, nullptr};
    if (solve(&goal)) return true;
    bindings_.roots.pop_back();
    return false;
  }

  bool solve(const Goal* goal) {
    if (++steps_ > kMostSteps) return false;
    if (!goal) return start_root();
    if (goal->term < 0) return sequence(*goal);
    const Term& t = equation_.terms[goal->term];
    const ValueId value = goal->value;
    using Kind = Mismatch::Kind;
    switch (t.kind) {
      case Term::Kind::op: return op(t, goal);
      case Term::Kind::variable: return variable(t, goal);
      case Term::Kind::number: return (is_number(t, value) || is_waived({Kind::number, goal->term, -1, value, {}, {}})) && solve_next(goal);
      case Term::Kind::ints:
        return ((value && match_.ints(value) == std::optional(t.ints)) || is_waived({Kind::ints, goal->term, -1, value, {}, {}})) &&
               solve_next(goal);
      case Term::Kind::tensor:
        return (match_.is_tensor(value, t.tensor) || is_waived({Mismatch::Kind::number, goal->term, -1, value, {}, {}})) &&
               solve_next(goal);
      case Term::Kind::missing: return (!value || is_waived({Kind::present, goal->term, -1, value, {}, {}})) && solve_next(goal);
      case Term::Kind::alternatives: return alternatives(t, goal);
      case Term::Kind::variadic:
      case Term::Kind::computed_constant: break;  // sequence() solves variadic terms; computed constants are on the right
    }
    return false;
  }

  bool is_number(const Term& t, ValueId value) const {
    if (!value) return false;
    if (t.tolerance < 0) return match_.is_number(value, t.number);
    const auto found = match_.number(value);
    return found && (*found == t.number || std::abs(*found - t.number) <= t.tolerance);
  }

  bool variable(const Term& t, const Goal* goal) {
    if (!goal->value && !t.optional && !is_waived({Mismatch::Kind::missing, goal->term, -1, {}, {}, {}})) return false;
    Slot& slot = bindings_.slots[t.variable];
    if (slot.kind == Slot::Kind::value)
      return (slot.value == goal->value || is_waived({Mismatch::Kind::variable, goal->term, -1, goal->value, {}, slot.value})) &&
             solve_next(goal);
    if (slot.kind != Slot::Kind::free) return false;
    slot.kind = Slot::Kind::value;
    slot.value = goal->value;
    if (solve_next(goal)) return true;
    slot.kind = Slot::Kind::free;
    slot.value = {};
    return false;
  }

  bool alternatives(const Term& t, const Goal* goal) {
    for (int choice : t.operands) {
      const Goal next{choice, goal->value, goal->next};
      if (solve(&next)) return true;
    }
    return false;
  }

  bool op(const Term& t, const Goal* goal) {
    if (!goal->value) return is_waived({Mismatch::Kind::missing, goal->term, -1, {}, {}, {}}) && false;
    const Value& value = match_.value(goal->value);
    if (value.kind != Value::Kind::result || match_.node(value.producer).op != t.op)
      return is_waived({Mismatch::Kind::op, goal->term, -1, goal->value, {}, {}}) && false;
    if (value.index != t.result) return is_waived({Mismatch::Kind::result, goal->term, -1, goal->value, {}, {}}) && false;
    const NodeId node = value.producer;
    const auto before = t.attributes.empty() ? decltype(bindings_.slots)() : bindings_.slots;
    match_.nodes.push_back(node);
    if constexpr (Trace::kOn) trace_.add_depth(1);
    if (attributes(t, node, goal->term)) {
      if (operands(t, node, goal, false)) return true;
      if (t.op->commutative && t.op->max_inputs >= 0 && t.operands.size() >= 2 && operands(t, node, goal, true)) return true;
    }
    if constexpr (Trace::kOn) trace_.add_depth(-1);
    match_.nodes.pop_back();
    if (!t.attributes.empty()) bindings_.slots = before;
    return false;
  }

  bool operands(const Term& t, NodeId node, const Goal* goal, bool swapped) {
    const bool variadic =
        t.op->max_inputs < 0 || std::ranges::any_of(t.operands, [&](int i) { return equation_.terms[i].kind == Term::Kind::variadic; });
    if (variadic) {
      const Goal all{-1, {}, goal->next, &t, node};
      return sequence(all);
    }
    const Node& n = match_.node(node);
    for (size_t i = t.operands.size(); i < n.explicit_inputs; ++i)
      if (n.inputs[i] && !is_waived({Mismatch::Kind::arity, goal->term, -1, n.inputs[i], node, {}})) return false;
    if (t.operands.empty()) return solve(goal->next);
    ir::SmallList<Goal, 4> chain;
    chain.assign(t.operands.size(), {});
    for (size_t i = 0; i < chain.size(); ++i) {
      const size_t slot = swapped && i < 2 ? 1 - i : i;
      chain[i] = {t.operands[i], resolve(match_.operand(node, slot)), i + 1 < chain.size() ? &chain[i + 1] : goal->next};
    }
    return solve(&chain[0]);
  }

  /// Operands of an op that takes any number of them, in order; a variadic pattern takes as many as make the rest match.
  bool sequence(const Goal& at) {
    const auto size = static_cast<uint32_t>(match_.node(at.node).explicit_inputs);
    if (at.pattern_operand == at.op_term->operands.size()) {
      const auto taken =
          at.op_term->op->commutative && size <= 64 ? static_cast<uint32_t>(__builtin_popcountll(at.used_operands)) : at.node_operand;
      if (taken != size && !is_waived({Mismatch::Kind::arity, term_of(*at.op_term), -1, {}, at.node, {}})) return false;
      return solve(at.next);
    }
    const int term = at.op_term->operands[at.pattern_operand];
    if (at.op_term->op->commutative && size <= 64) return commutative_sequence(at, term, size);
    if (equation_.terms[term].kind == Term::Kind::variadic) return variadic(at, equation_.terms[term], size);
    if (at.node_operand >= size) return is_waived({Mismatch::Kind::arity, term_of(*at.op_term), -1, {}, at.node, {}}) && false;
    const Goal after{-1, {}, at.next, at.op_term, at.node, at.pattern_operand + 1, at.node_operand + 1, 0};
    const Goal here{term, resolve(match_.operand(at.node, at.node_operand)), &after};
    return solve(&here);
  }

  bool variadic(const Goal& at, const Term& t, uint32_t size) {
    const size_t after = at.op_term->operands.size() - at.pattern_operand - 1;  // patterns after, each at least nothing
    const bool last = after == 0;
    for (uint32_t end = last ? size : at.node_operand; end <= size; ++end) {
      Values values;
      for (uint32_t i = at.node_operand; i < end; ++i) values.push_back(match_.operand(at.node, i));
      if (bind_variadic(t, std::move(values), {-1, {}, at.next, at.op_term, at.node, at.pattern_operand + 1, end, 0})) return true;
      if (steps_ > kMostSteps) return false;
    }
    return false;
  }

  /// Operands of a commutative op that takes any number of them: each pattern matches any unused one; a variadic pattern, which is
  /// solved last, takes those that are left in their order.
  bool commutative_sequence(const Goal& at, int term, uint32_t size) {
    if (equation_.terms[term].kind == Term::Kind::variadic) {
      if (at.pattern_operand + 1 < at.op_term->operands.size()) {  // the other patterns first: the variadic one moves to the end
        Goal later = at;
        Term rotated = *at.op_term;
        std::rotate(rotated.operands.begin() + at.pattern_operand, rotated.operands.begin() + at.pattern_operand + 1,
                    rotated.operands.end());
        later.op_term = &rotated;
        return equation_.terms[rotated.operands[at.pattern_operand]].kind != Term::Kind::variadic && sequence(later);
      }
      Values values;
      for (uint32_t i = 0; i < size; ++i)
        if (!(at.used_operands >> i & 1)) values.push_back(match_.operand(at.node, i));
      return bind_variadic(
          equation_.terms[term], std::move(values),
          {-1, {}, at.next, at.op_term, at.node, at.pattern_operand + 1, size, size == 0 ? 0 : ~uint64_t{0} >> (64 - size)});
    }
    for (uint32_t i = 0; i < size; ++i) {
      if (at.used_operands >> i & 1) continue;
      const Goal after{-1, {}, at.next, at.op_term, at.node, at.pattern_operand + 1, 0, at.used_operands | uint64_t{1} << i};
      const Goal here{term, resolve(match_.operand(at.node, i)), &after};
      if (solve(&here)) return true;
    }
    return false;
  }

  bool bind_variadic(const Term& t, Values values, const Goal& after) {
    Slot& slot = bindings_.slots[t.variable];
    if (slot.kind == Slot::Kind::variadic) return bindings_.variadic_values[t.variable] == values && solve(&after);
    slot.kind = Slot::Kind::variadic;
    bindings_.variadic_values[t.variable] = std::move(values);
    if (solve(&after)) return true;
    slot.kind = Slot::Kind::free;
    return false;
  }

  int term_of(const Term& t) const {
    const auto* first = equation_.terms.data();
    return &t >= first && &t < first + equation_.terms.size() ? static_cast<int>(&t - first) : -1;
  }

  bool attributes(const Term& t, NodeId node, int term) {
    if (t.exact_attributes && match_.node(node).attributes.size() != t.attributes.size()) return false;
    for (size_t i = 0; i < t.attributes.size(); ++i)
      if (!attribute(t.attributes[i], node) && !is_waived({Mismatch::Kind::attribute, term, static_cast<int>(i), {}, node, {}}))
        return false;
    return true;
  }

  bool attribute(const Term::AttributePattern& pattern, NodeId node) {
    const ir::Attribute* found = match_.node(node).attributes.find(pattern.name);
    if (!found && pattern.has_default) found = &pattern.default_value;
    if (!found) return false;
    const Expression& wanted = equation_.expressions[pattern.expression];
    if (wanted.kind == Expression::Kind::literal) return agrees(*found, wanted.literal);
    Slot& slot = bindings_.slots[wanted.variable];
    if (slot.kind == Slot::Kind::attribute) return agrees(*found, term_value_of(*slot.attribute));
    if (slot.kind != Slot::Kind::free) return false;
    slot.kind = Slot::Kind::attribute;
    slot.attribute = found;
    return true;
  }

  /// Of the bound values of variables below `term` the one with the fewest users, and how many ops are between it and the term; {-1, none}
  /// where no variable is bound. Other roots are found from it.
  std::pair<int, ValueId> bound_value_below(int term) const {
    const Term& t = equation_.terms[term];
    if (t.kind == Term::Kind::variable) {
      const Slot& slot = bindings_.slots[t.variable];
      return slot.kind == Slot::Kind::value && slot.value ? std::pair(0, slot.value) : std::pair(-1, ValueId{});
    }
    std::pair<int, ValueId> best{-1, {}};
    for (int operand : t.operands) {
      const auto [depth, value] = bound_value_below(operand);
      if (depth < 0 || (best.first >= 0 && match_.use_count(best.second) <= match_.use_count(value))) continue;
      best = {depth + (t.kind == Term::Kind::op ? 1 : 0), value};
    }
    return best;
  }

  std::vector<NodeId> other_root_candidates(int term) const {
    auto [depth, value] = bound_value_below(term);
    if (depth < 1) return {};
    std::vector<ValueId> frontier{value};
    std::vector<NodeId> users, all;
    for (; depth > 0; --depth) {  // alternatives may be less deep
      users.clear();
      for (ValueId v : frontier)
        for (const ir::Use& use : match_.value(v).uses)
          if (use.node && std::ranges::find(users, use.node) == users.end()) users.push_back(use.node);
      frontier.clear();
      for (NodeId user : users)
        for (ValueId v : match_.node(user).outputs)
          if (v) frontier.push_back(v);
      if (equation_.terms[term].kind == Term::Kind::alternatives || depth == 1) all.insert(all.end(), users.begin(), users.end());
    }
    std::ranges::sort(all, [&](NodeId a, NodeId b) { return match_.graph().is_before(a, b); });
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  bool conditions() {
    for (Slot& slot : bindings_.slots)
      if (slot.kind == Slot::Kind::term_value) slot.kind = Slot::Kind::free;
    for (size_t i = 0; i < equation_.conditions.size(); ++i) {
      if (holds(equation_.conditions[i])) continue;
      match_.refuse(equation_.conditions[i].text);
      if (!is_waived({Mismatch::Kind::condition, static_cast<int>(i), -1, {}, {}, {}})) return false;
    }
    return true;
  }

  bool holds(const Condition& c) {
    if (c.binds) {
      const Expression& e = equation_.expressions[c.expression];
      const Answer found = evaluate(equation_, e.arguments[0], bindings_, match_);
      return found && unify(equation_, e.arguments[1], *found, bindings_, match_) == true;
    }
    const Answer answer = evaluate(equation_, c.expression, bindings_, match_);
    const auto number = answer ? as_number(*answer) : std::nullopt;
    return number && *number != 0;
  }

  const Equation& equation_;
  Match& match_;
  Trace& trace_;
  Bindings bindings_;
  uint32_t steps_ = 0;
};

}  // namespace tenon::rewrite
