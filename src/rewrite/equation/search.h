// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// One thing that did not hold while an equation was tried.
struct Mismatch {
  enum class Kind : uint8_t {
    op,
    result,
    missing,
    present,
    number,
    ints,
    variable,
    attribute,
    arity,
    condition,
    other_root
  } kind = Kind::op;
  int index = -1;    ///< the term; for `condition` the condition
  int part = -1;     ///< attribute: which of the term's
  ValueId value;     ///< what is there; for `variable` what is there now
  NodeId node;       ///< attribute, arity: the node
  ValueId expected;  ///< variable: what the name stands for already
};

/// Nothing is traced: every question of the search to its trace is compiled away.
struct NoTrace {
  static constexpr bool kOn = false;
};

/// Backtracking search: goals (this term stands for that value) form a list on the stack, choices are tried in order.
/// Trace: NoTrace, or a class with kOn, `ValueId through(const Match&, ValueId)` (what is seen in place of a value), `bool waived(const
/// Miss&, size_t depth, ...)` (called for a mismatch, which counts as a match where it returns true) and `void passed(int)` (terms matched
/// on the way).
template <class Trace = NoTrace>
class Search {
 public:
  Search(const Equation& equation, Match& match, Trace& trace) : e_(equation), m_(match), trace_(trace) {
    b_.slots.assign(e_.variables.size(), {});
    for (const Variable& v : e_.variables)
      if (v.kind == Variable::Kind::rest) b_.rests.resize(e_.variables.size());
  }

  bool run() {
    m_.nodes.clear();
    return start_root();
  }
  Bindings& bindings() { return b_; }
  bool gave_up() const { return steps_ > kMostSteps; }

 private:
  using Slot = Bindings::Slot;
  /// One attempt at one node; more is refused, so that no pattern takes for ever.
  static constexpr uint32_t kMostSteps = 1u << 20;

  /// term >= 0: it stands for `value`. term < 0: operands of `of` from `operand` on stand for those of `node` from `slot` on.
  struct Goal {
    int term;
    ValueId value;
    const Goal* next;
    const Term* of = nullptr;
    NodeId node{};
    uint32_t operand = 0, slot = 0;
    uint64_t used = 0;  ///< any_order: slots that are taken
  };

  bool miss([[maybe_unused]] const Mismatch& mismatch) {
    if constexpr (Trace::kOn) return trace_.waived(mismatch, m_, b_);
    return false;
  }
  ValueId see(ValueId value) const {
    if constexpr (Trace::kOn) return trace_.through(m_, value);
    return value;
  }
  bool go_on(const Goal* goal) {
    if constexpr (Trace::kOn) {
      trace_.passed(1);
      if (solve(goal->next)) return true;
      trace_.passed(-1);
      return false;
    }
    return solve(goal->next);
  }

  bool start_root() {
    const size_t k = b_.roots.size();
    if (k == e_.left.size()) return conditions();
    if (k == 0) return try_root(m_.root());
    for (NodeId candidate : other_root_candidates(e_.left[k]))
      if (try_root(candidate)) return true;
    return miss({Mismatch::Kind::other_root, e_.left[k], -1, {}, {}, {}}) && false;
  }

  /// The result that the root matches is the one that its term names; with alternatives, that of the first that has a number.
  bool try_root(NodeId node) {
    const int root = e_.left[b_.roots.size()];
    const Term* term = &e_.terms[root];
    while (term->kind == Term::Kind::either) term = &e_.terms[term->operands[0]];
    const Node& n = m_.node(node);
    if (term->result >= n.outputs.size() || !n.outputs[term->result]) return false;
    const ValueId value = n.outputs[term->result];
    if (std::ranges::find(b_.roots, value) != b_.roots.end()) return false;
    b_.roots.push_back(value);
    const Goal goal{root, value, nullptr};
    if (solve(&goal)) return true;
    b_.roots.pop_back();
    return false;
  }

  bool solve(const Goal* goal) {
    if (++steps_ > kMostSteps) return false;
    if (!goal) return start_root();
    if (goal->term < 0) return sequence(*goal);
    const Term& t = e_.terms[goal->term];
    const ValueId value = goal->value;
    using Kind = Mismatch::Kind;
    switch (t.kind) {
      case Term::Kind::op: return op(t, goal);
      case Term::Kind::variable: return variable(t, goal);
      case Term::Kind::number: return (is_number(t, value) || miss({Kind::number, goal->term, -1, value, {}, {}})) && go_on(goal);
      case Term::Kind::ints:
        return ((value && m_.ints(value) == std::optional(t.ints)) || miss({Kind::ints, goal->term, -1, value, {}, {}})) && go_on(goal);
      case Term::Kind::tensor:
        return (m_.is_tensor(value, t.tensor) || miss({Mismatch::Kind::number, goal->term, -1, value, {}, {}})) && go_on(goal);
      case Term::Kind::missing: return (!value || miss({Kind::present, goal->term, -1, value, {}, {}})) && go_on(goal);
      case Term::Kind::either: return either(t, goal);
      case Term::Kind::rest:
      case Term::Kind::computed: break;  // rests are met in sequences, computed constants on the right
    }
    return false;
  }

  bool is_number(const Term& t, ValueId value) const {
    if (!value) return false;
    if (t.tolerance < 0) return m_.is_number(value, t.number);
    const auto found = m_.number(value);
    return found && (*found == t.number || std::abs(*found - t.number) <= t.tolerance);
  }

  bool variable(const Term& t, const Goal* goal) {
    if (!goal->value && !t.optional && !miss({Mismatch::Kind::missing, goal->term, -1, {}, {}, {}})) return false;
    Slot& slot = b_.slots[t.variable];
    if (slot.kind == Slot::Kind::value)
      return (slot.value == goal->value || miss({Mismatch::Kind::variable, goal->term, -1, goal->value, {}, slot.value})) && go_on(goal);
    if (slot.kind != Slot::Kind::free) return false;
    slot.kind = Slot::Kind::value;
    slot.value = goal->value;
    if (go_on(goal)) return true;
    slot.kind = Slot::Kind::free;
    slot.value = {};
    return false;
  }

  bool either(const Term& t, const Goal* goal) {
    for (int choice : t.operands) {
      const Goal next{choice, goal->value, goal->next};
      if (solve(&next)) return true;
    }
    return false;
  }

  bool op(const Term& t, const Goal* goal) {
    if (!goal->value) return miss({Mismatch::Kind::missing, goal->term, -1, {}, {}, {}}) && false;
    const Value& value = m_.value(goal->value);
    if (value.kind != Value::Kind::result || m_.node(value.producer).op != t.op)
      return miss({Mismatch::Kind::op, goal->term, -1, goal->value, {}, {}}) && false;
    if (value.index != t.result) return miss({Mismatch::Kind::result, goal->term, -1, goal->value, {}, {}}) && false;
    const NodeId node = value.producer;
    const auto before = t.attributes.empty() ? decltype(b_.slots)() : b_.slots;
    m_.nodes.push_back(node);
    if constexpr (Trace::kOn) trace_.passed(1);
    if (attributes(t, node, goal->term)) {
      if (operands(t, node, goal, false)) return true;
      if (t.op->commutative && t.op->max_inputs >= 0 && t.operands.size() >= 2 && operands(t, node, goal, true)) return true;
    }
    if constexpr (Trace::kOn) trace_.passed(-1);
    m_.nodes.pop_back();
    if (!t.attributes.empty()) b_.slots = before;
    return false;
  }

  bool operands(const Term& t, NodeId node, const Goal* goal, bool swapped) {
    const bool variadic =
        t.op->max_inputs < 0 || std::ranges::any_of(t.operands, [&](int i) { return e_.terms[i].kind == Term::Kind::rest; });
    if (variadic) {
      const Goal all{-1, {}, goal->next, &t, node};
      return sequence(all);
    }
    const Node& n = m_.node(node);
    for (size_t i = t.operands.size(); i < n.explicit_inputs; ++i)
      if (n.inputs[i] && !miss({Mismatch::Kind::arity, goal->term, -1, n.inputs[i], node, {}})) return false;
    if (t.operands.empty()) return solve(goal->next);
    ir::SmallList<Goal, 4> chain;
    chain.assign(t.operands.size(), {});
    for (size_t i = 0; i < chain.size(); ++i) {
      const size_t slot = swapped && i < 2 ? 1 - i : i;
      chain[i] = {t.operands[i], see(m_.operand(node, slot)), i + 1 < chain.size() ? &chain[i + 1] : goal->next};
    }
    return solve(&chain[0]);
  }

  /// Operands of an op with any number of them: one pattern after the other, a rest taking as many as leads on.
  bool sequence(const Goal& at) {
    const auto size = static_cast<uint32_t>(m_.node(at.node).explicit_inputs);
    if (at.operand == at.of->operands.size()) {
      const auto taken = at.of->op->commutative && size <= 64 ? static_cast<uint32_t>(__builtin_popcountll(at.used)) : at.slot;
      if (taken != size && !miss({Mismatch::Kind::arity, term_of(*at.of), -1, {}, at.node, {}})) return false;
      return solve(at.next);
    }
    const int term = at.of->operands[at.operand];
    if (at.of->op->commutative && size <= 64) return any_order(at, term, size);
    if (e_.terms[term].kind == Term::Kind::rest) return rest(at, e_.terms[term], size);
    if (at.slot >= size) return miss({Mismatch::Kind::arity, term_of(*at.of), -1, {}, at.node, {}}) && false;
    const Goal after{-1, {}, at.next, at.of, at.node, at.operand + 1, at.slot + 1, 0};
    const Goal here{term, see(m_.operand(at.node, at.slot)), &after};
    return solve(&here);
  }

  bool rest(const Goal& at, const Term& t, uint32_t size) {
    const size_t after = at.of->operands.size() - at.operand - 1;  // patterns after, each at least nothing
    const bool last = after == 0;
    for (uint32_t end = last ? size : at.slot; end <= size; ++end) {
      Values values;
      for (uint32_t i = at.slot; i < end; ++i) values.push_back(m_.operand(at.node, i));
      if (bind_rest(t, std::move(values), {-1, {}, at.next, at.of, at.node, at.operand + 1, end, 0})) return true;
      if (steps_ > kMostSteps) return false;
    }
    return false;
  }

  /// Of a commutative op: patterns take any operand that is left, and a rest, which comes last, the others in their order.
  bool any_order(const Goal& at, int term, uint32_t size) {
    if (e_.terms[term].kind == Term::Kind::rest) {
      if (at.operand + 1 < at.of->operands.size()) {  // first those that choose: the rest moves after them
        Goal later = at;
        Term rotated = *at.of;
        std::rotate(rotated.operands.begin() + at.operand, rotated.operands.begin() + at.operand + 1, rotated.operands.end());
        later.of = &rotated;
        return e_.terms[rotated.operands[at.operand]].kind != Term::Kind::rest && sequence(later);
      }
      Values values;
      for (uint32_t i = 0; i < size; ++i)
        if (!(at.used >> i & 1)) values.push_back(m_.operand(at.node, i));
      return bind_rest(e_.terms[term], std::move(values),
                       {-1, {}, at.next, at.of, at.node, at.operand + 1, size, size == 0 ? 0 : ~uint64_t{0} >> (64 - size)});
    }
    for (uint32_t i = 0; i < size; ++i) {
      if (at.used >> i & 1) continue;
      const Goal after{-1, {}, at.next, at.of, at.node, at.operand + 1, 0, at.used | uint64_t{1} << i};
      const Goal here{term, see(m_.operand(at.node, i)), &after};
      if (solve(&here)) return true;
    }
    return false;
  }

  bool bind_rest(const Term& t, Values values, const Goal& after) {
    Slot& slot = b_.slots[t.variable];
    if (slot.kind == Slot::Kind::rest) return b_.rests[t.variable] == values && solve(&after);
    slot.kind = Slot::Kind::rest;
    b_.rests[t.variable] = std::move(values);
    if (solve(&after)) return true;
    slot.kind = Slot::Kind::free;
    return false;
  }

  int term_of(const Term& t) const {
    const auto* first = e_.terms.data();
    return &t >= first && &t < first + e_.terms.size() ? static_cast<int>(&t - first) : -1;
  }

  bool attributes(const Term& t, NodeId node, int term) {
    if (t.exact_attributes && m_.node(node).attributes.size() != t.attributes.size()) return false;
    for (size_t i = 0; i < t.attributes.size(); ++i)
      if (!attribute(t.attributes[i], node) && !miss({Mismatch::Kind::attribute, term, static_cast<int>(i), {}, node, {}})) return false;
    return true;
  }

  bool attribute(const Term::AttributePattern& given, NodeId node) {
    const ir::Attribute* found = m_.node(node).attributes.find(given.name);
    if (!found && given.has_default) found = &given.otherwise;
    if (!found) return false;
    const Expression& wanted = e_.expressions[given.expression];
    if (wanted.kind == Expression::Kind::literal) return agrees(*found, wanted.literal);
    Slot& slot = b_.slots[wanted.variable];
    if (slot.kind == Slot::Kind::attribute) return agrees(*found, term_value_of(*slot.attribute));
    if (slot.kind != Slot::Kind::free) return false;
    slot.kind = Slot::Kind::attribute;
    slot.attribute = found;
    return true;
  }

  /// Distance and value of a variable below `term` that is bound already, the one with the fewest users; {-1, none} where there is none.
  std::pair<int, ValueId> anchor(int term) const {
    const Term& t = e_.terms[term];
    if (t.kind == Term::Kind::variable) {
      const Slot& slot = b_.slots[t.variable];
      return slot.kind == Slot::Kind::value && slot.value ? std::pair(0, slot.value) : std::pair(-1, ValueId{});
    }
    std::pair<int, ValueId> best{-1, {}};
    for (int operand : t.operands) {
      const auto [depth, value] = anchor(operand);
      if (depth < 0 || (best.first >= 0 && m_.use_count(best.second) <= m_.use_count(value))) continue;
      best = {depth + (t.kind == Term::Kind::op ? 1 : 0), value};
    }
    return best;
  }

  std::vector<NodeId> other_root_candidates(int term) const {
    auto [depth, value] = anchor(term);
    if (depth < 1) return {};
    std::vector<ValueId> front{value};
    std::vector<NodeId> users, all;
    for (; depth > 0; --depth) {  // alternatives may be less deep
      users.clear();
      for (ValueId v : front)
        for (const ir::Use& use : m_.value(v).uses)
          if (use.node && std::ranges::find(users, use.node) == users.end()) users.push_back(use.node);
      front.clear();
      for (NodeId user : users)
        for (ValueId v : m_.node(user).outputs)
          if (v) front.push_back(v);
      if (e_.terms[term].kind == Term::Kind::either || depth == 1) all.insert(all.end(), users.begin(), users.end());
    }
    std::ranges::sort(all, [&](NodeId a, NodeId b) { return m_.graph().is_before(a, b); });
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
  }

  bool conditions() {
    for (Slot& slot : b_.slots)
      if (slot.kind == Slot::Kind::term_value) slot.kind = Slot::Kind::free;
    for (size_t i = 0; i < e_.conditions.size(); ++i) {
      if (holds(e_.conditions[i])) continue;
      m_.refuse(e_.conditions[i].text);
      if (!miss({Mismatch::Kind::condition, static_cast<int>(i), -1, {}, {}, {}})) return false;
    }
    return true;
  }

  bool holds(const Condition& c) {
    if (c.binds) {
      const Expression& e = e_.expressions[c.expression];
      const Answer found = evaluate(e_, e.arguments[0], b_, m_);
      return found && unify(e_, e.arguments[1], *found, b_, m_) == true;
    }
    const Answer answer = evaluate(e_, c.expression, b_, m_);
    const auto number = answer ? as_number(*answer) : std::nullopt;
    return number && *number != 0;
  }

  const Equation& e_;
  Match& m_;
  Trace& trace_;
  Bindings b_;
  uint32_t steps_ = 0;
};

}  // namespace tenon::rewrite
