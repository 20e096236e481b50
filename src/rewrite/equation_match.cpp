// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "rewrite/equation.h"
#include "rewrite/functions.h"

namespace tenon::rewrite {
namespace {

bool agree(const ir::Attribute& a, const ir::Attribute& b) {
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return *x == *y || std::abs(*x - *y) <= 1e-6 * std::abs(*y);
  return ir::same(a, b);
}

/// Backtracking search: goals (this term stands for that value) form a list on the stack, choices are tried in order.
class Search {
 public:
  Search(const Equation& equation, Match& match) : e_(equation), m_(match) { b_.slots.assign(e_.variables.size(), {}); }

  bool run() {
    m_.nodes.clear();
    return start_root();
  }
  Bindings& bindings() { return b_; }

 private:
  struct Goal {
    int term;
    ValueId value;
    const Goal* next;
  };

  bool start_root() {
    const size_t k = b_.roots.size();
    if (k == e_.left.size()) return conditions();
    if (k == 0) return try_root(m_.root());
    for (NodeId candidate : other_root_candidates(e_.left[k]))
      if (try_root(candidate)) return true;
    return false;
  }

  bool try_root(NodeId node) {
    const Term& term = e_.terms[e_.left[b_.roots.size()]];
    const Node& n = m_.node(node);
    if (term.result >= n.outputs.size() || !n.outputs[term.result]) return false;
    b_.roots.push_back(n.outputs[term.result]);
    const Goal goal{e_.left[b_.roots.size() - 1], n.outputs[term.result], nullptr};
    if (solve(&goal)) return true;
    b_.roots.pop_back();
    return false;
  }

  bool solve(const Goal* goal) {
    if (!goal) return start_root();
    const Term& t = e_.terms[goal->term];
    switch (t.kind) {
      case Term::Kind::variable: return variable(t, goal);
      case Term::Kind::number: return goal->value && m_.is_number(goal->value, t.number) && solve(goal->next);
      case Term::Kind::ints: return goal->value && m_.ints(goal->value) == std::optional(t.ints) && solve(goal->next);
      case Term::Kind::missing: return !goal->value && solve(goal->next);
      case Term::Kind::either: return either(t, goal);
      case Term::Kind::op: return op(t, goal);
    }
    return false;
  }

  bool variable(const Term& t, const Goal* goal) {
    if (!goal->value && !t.optional) return false;
    auto& slot = b_.slots[t.variable];
    if (slot.kind == Bindings::Slot::Kind::value) return slot.value == goal->value && solve(goal->next);
    if (slot.kind != Bindings::Slot::Kind::free) return false;
    slot.kind = Bindings::Slot::Kind::value;
    slot.value = goal->value;
    if (solve(goal->next)) return true;
    slot.kind = Bindings::Slot::Kind::free;
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
    if (!goal->value) return false;
    const Value& value = m_.value(goal->value);
    if (value.kind != Value::Kind::result || value.index != t.result || m_.node(value.producer).op != t.op) return false;
    const NodeId node = value.producer;
    const auto before = t.attributes.empty() ? decltype(b_.slots)() : b_.slots;
    m_.nodes.push_back(node);
    if (attributes(t, node)) {
      if (operands(t, node, goal, false)) return true;
      if (t.op->commutative && t.operands.size() >= 2 && operands(t, node, goal, true)) return true;
    }
    m_.nodes.pop_back();
    if (!t.attributes.empty()) b_.slots = before;
    return false;
  }

  bool operands(const Term& t, NodeId node, const Goal* goal, bool swapped) {
    const Node& n = m_.node(node);
    for (size_t i = t.operands.size(); i < n.explicit_inputs; ++i)
      if (n.inputs[i]) return false;
    if (t.operands.empty()) return solve(goal->next);
    ir::SmallList<Goal, 4> chain;
    chain.assign(t.operands.size(), {});
    for (size_t i = 0; i < chain.size(); ++i) {
      const size_t slot = swapped && i < 2 ? 1 - i : i;
      chain[i] = {t.operands[i], m_.operand(node, slot), i + 1 < chain.size() ? &chain[i + 1] : goal->next};
    }
    return solve(&chain[0]);
  }

  bool attributes(const Term& t, NodeId node) {
    for (const Term::Given& given : t.attributes) {
      const ir::Attribute* found = m_.node(node).attributes.find(given.name);
      if (!found && given.has_default) found = &given.otherwise;
      if (!found) return false;
      const Expression& wanted = e_.expressions[given.expression];
      if (wanted.kind == Expression::Kind::variable && b_.slots[wanted.variable].kind == Bindings::Slot::Kind::free) {
        b_.slots[wanted.variable].kind = Bindings::Slot::Kind::attribute;
        b_.slots[wanted.variable].attribute = found;
        continue;
      }
      const auto value = evaluate(e_, given.expression, b_, m_);
      if (!value || !agree(*found, *value)) return false;
    }
    return true;
  }

  /// Distance and value of a variable below `term` that is bound already; {-1, none} where there is none.
  std::pair<int, ValueId> anchor(int term) const {
    const Term& t = e_.terms[term];
    if (t.kind == Term::Kind::variable) {
      const auto& slot = b_.slots[t.variable];
      return slot.kind == Bindings::Slot::Kind::value && slot.value ? std::pair(0, slot.value) : std::pair(-1, ValueId{});
    }
    for (int operand : t.operands) {
      auto [depth, value] = anchor(operand);
      if (depth >= 0) return {depth + (t.kind == Term::Kind::op ? 1 : 0), value};
    }
    return {-1, {}};
  }

  std::vector<NodeId> other_root_candidates(int term) const {
    auto [depth, value] = anchor(term);
    if (depth < 1) return {};
    std::vector<ValueId> front{value};
    std::vector<NodeId> users;
    for (; depth > 0; --depth) {
      users.clear();
      for (ValueId v : front)
        for (const ir::Use& use : m_.value(v).uses)
          if (use.node && std::ranges::find(users, use.node) == users.end()) users.push_back(use.node);
      front.clear();
      for (NodeId user : users)
        for (ValueId v : m_.node(user).outputs)
          if (v) front.push_back(v);
    }
    std::erase_if(users, [&](NodeId n) { return std::ranges::find(m_.nodes, n) != m_.nodes.end(); });
    std::ranges::sort(users, [&](NodeId a, NodeId b) { return m_.graph().is_before(a, b); });
    return users;
  }

  bool conditions() {
    for (const Condition& c : e_.conditions)
      if (holds(c) == c.negated) return m_.refuse(c.text);
    return true;
  }

  bool holds(const Condition& c) {
    const auto left = evaluate(e_, c.left, b_, m_);
    if (!left) return false;
    if (c.compare == Condition::Compare::holds) return as_number(*left).value_or(0) != 0;
    const auto right = evaluate(e_, c.right, b_, m_);
    if (!right) return false;
    const auto x = as_number(*left), y = as_number(*right);
    switch (c.compare) {
      case Condition::Compare::equal: return agree(*left, *right);
      case Condition::Compare::differs: return !agree(*left, *right);
      case Condition::Compare::less: return x && y && *x < *y;
      case Condition::Compare::at_most: return x && y && *x <= *y;
      case Condition::Compare::greater: return x && y && *x > *y;
      case Condition::Compare::at_least: return x && y && *x >= *y;
      case Condition::Compare::holds: break;
    }
    return false;
  }

  const Equation& e_;
  Match& m_;
  Bindings b_;
};

}  // namespace

std::optional<ir::Attribute> evaluate(const Equation& equation, int expression, const Bindings& bindings, const Match& match) {
  const Expression& e = equation.expressions[expression];
  if (e.kind == Expression::Kind::literal) return e.literal;
  if (e.kind == Expression::Kind::variable) {
    const auto& slot = bindings.slots[e.variable];
    return slot.kind == Bindings::Slot::Kind::attribute ? std::optional(*slot.attribute) : std::nullopt;
  }
  std::vector<Argument> arguments;
  std::vector<ir::Attribute> computed;
  computed.reserve(e.arguments.size());  // arguments point into it
  for (int a : e.arguments) {
    const Expression& inner = equation.expressions[a];
    if (inner.kind == Expression::Kind::variable) {
      arguments.push_back(bindings.slots[inner.variable]);
      continue;
    }
    auto value = evaluate(equation, a, bindings, match);
    if (!value) return std::nullopt;
    computed.push_back(std::move(*value));
    arguments.push_back({Bindings::Slot::Kind::attribute, {}, &computed.back()});
  }
  return call(e.function, match, arguments);
}

bool Equation::match(Match& match) const {
  Search search(*this, match);
  if (!search.run()) return false;
  for (size_t i = 1; i < search.bindings().roots.size(); ++i) match.other_roots.push_back(match.producer(search.bindings().roots[i]));
  match.keep(std::move(search.bindings()));
  return true;
}

}  // namespace tenon::rewrite
