// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/automaton.h"

#include <algorithm>
#include <cmath>

namespace tenon::rewrite {
namespace {

/// Orders of commutative operands and alternatives multiply; an equation with more gets a shallower tree.
constexpr size_t kMaxPaths = 32;
constexpr int kMaxDepth = 8;

bool matches_any_value(const Equation& e, int term) {
  const Term::Kind kind = e.terms[term].kind;
  return kind == Term::Kind::variable;
}

/// How many operands are at the slot of their pattern: none that a rest precedes, and none of a commutative op with any number of them.
size_t fixed_operands(const Equation& e, const Term& t) {
  if (t.op->commutative && t.op->max_inputs < 0) return 0;
  size_t fixed = 0;
  while (fixed < t.operands.size() && e.terms[t.operands[fixed]].kind != Term::Kind::variadic) ++fixed;
  return fixed;
}

}  // namespace

Automaton::Automaton() : states_(1), places_(1) {}

bool Automaton::Test::same_test(const Test& other) const {
  if (kind != other.kind || place != other.place || !attribute != !other.attribute) return false;
  if (!attribute || attribute == other.attribute) return true;
  const Term::AttributePattern &a = *attribute, &b = *other.attribute;
  return a.name == b.name && a.has_default == b.has_default && (!a.has_default || ir::same(a.default_value, b.default_value));
}

void Automaton::add(const ir::Op* op, uint32_t rule) {
  Test test;
  test.op = op;
  insert({test}, rule);
}

void Automaton::add(const Equation& equation, uint32_t rule) {
  for (int depth = kMaxDepth; depth > 0; --depth) {
    const auto all = paths(equation, equation.left[0], 0, depth);
    if (all.size() > kMaxPaths && depth > 1) continue;
    for (const Path& path : all) insert(path, rule);
    return;
  }
}

uint32_t Automaton::place_of(uint32_t parent, uint32_t slot) {
  for (uint32_t i = 1; i < places_.size(); ++i)
    if (places_[i].parent == parent && places_[i].slot == slot) return i;
  places_.push_back({parent, slot});
  return static_cast<uint32_t>(places_.size()) - 1;
}

/// The ways in which a term can be met at a place, each as tests to pass one after the other; `depth`: so many ops below each other.
std::vector<Automaton::Path> Automaton::paths(const Equation& e, int index, uint32_t place, int depth) {
  const Term& t = e.terms[index];
  Test test;
  test.place = place;
  switch (t.kind) {
    case Term::Kind::op: return depth > 0 ? op_paths(e, t, place, depth) : std::vector<Path>{{}};
    case Term::Kind::number:
      if (t.tolerance >= 0) return {{}};  // not the tolerance of any dtype
      test.kind = TestKind::number;
      test.number = t.number;
      return {{test}};
    case Term::Kind::ints:
      test.kind = TestKind::ints;
      test.ints = &t.ints;
      return {{test}};
    case Term::Kind::missing: test.kind = TestKind::missing; return {{test}};
    case Term::Kind::alternatives: {
      std::vector<Path> all;
      for (int choice : t.operands) std::ranges::move(paths(e, choice, place, depth), std::back_inserter(all));
      return std::ranges::any_of(all, &Path::empty) ? std::vector<Path>{{}} : all;
    }
    default: return {{}};
  }
}

/// The tests of a term's op and attributes, without its operands.
Automaton::Path Automaton::own_tests(const Equation& e, const Term& t, uint32_t place) {
  Test test;
  test.place = place;
  test.op = t.op;
  Path own{test};
  for (const Term::AttributePattern& pattern : t.attributes) {
    const Expression& wanted = e.expressions[pattern.expression];
    if (wanted.kind != Expression::Kind::literal) continue;
    const auto number = as_number(wanted.literal);
    const auto exact = number ? std::nullopt : attribute_of(wanted.literal, pattern.floating);
    const auto* ints = exact ? std::get_if<ir::Ints>(&*exact) : nullptr;
    if (!number && !ints && !(exact && std::holds_alternative<std::string>(*exact))) continue;  // compared by more than its bytes
    own.push_back({number ? TestKind::number_attribute : TestKind::attribute, place, &pattern, nullptr, number.value_or(0), nullptr,
                   number ? 0 : ir::hash_of(*exact)});
  }
  return own;
}

/// The paths of a term's operands in their order, or with the first two exchanged.
std::vector<Automaton::Path> Automaton::operand_paths(const Equation& e, const Term& t, uint32_t place, int depth, bool swapped) {
  std::vector<Path> some{own_tests(e, t, place)};
  for (uint32_t i = 0; i < fixed_operands(e, t); ++i) {
    if (matches_any_value(e, t.operands[i])) continue;
    const auto ways = paths(e, t.operands[i], place_of(place, swapped && i < 2 ? 1 - i : i), depth - 1);
    if (some.size() * ways.size() > kMaxPaths) continue;
    std::vector<Path> longer;
    for (const Path& before : some)
      for (const Path& after : ways) {
        longer.push_back(before);
        longer.back().insert(longer.back().end(), after.begin(), after.end());
      }
    some = std::move(longer);
  }
  return some;
}

std::vector<Automaton::Path> Automaton::op_paths(const Equation& e, const Term& t, uint32_t place, int depth) {
  const bool swaps =
      t.op->commutative && fixed_operands(e, t) >= 2 && !(matches_any_value(e, t.operands[0]) && matches_any_value(e, t.operands[1]));
  std::vector<Path> all = operand_paths(e, t, place, depth, false);
  if (swaps) std::ranges::move(operand_paths(e, t, place, depth, true), std::back_inserter(all));
  return all;
}

void Automaton::insert(const Path& path, uint32_t rule) {
  uint32_t state = 0;
  for (const Test& test : path) state = follow(state, test);
  auto& rules = states_[state].rules;
  if (rules.empty() || rules.back() != rule) rules.push_back(rule);
}

uint32_t Automaton::follow(uint32_t state, const Test& test) {
  auto& decisions = states_[state].decisions;
  auto it = std::ranges::find_if(decisions, [&](const Decision& decision) { return decision.test.same_test(test); });
  if (it == decisions.end()) {
    decisions.push_back({test, {}, {}, {}, {}, 0});
    it = decisions.end() - 1;
  }
  uint32_t& next = next_state(*it, test);
  if (next != 0) return next;
  next = static_cast<uint32_t>(states_.size());
  const uint32_t made = next;
  states_.emplace_back();
  return made;
}

/// The state that follows where the value has the property that `test` expects; 0: none yet.
uint32_t& Automaton::next_state(Decision& decision, const Test& test) {
  const auto in = [](auto& list, const auto& key) -> uint32_t& {
    const auto at = std::ranges::lower_bound(list, key, {}, [](const auto& entry) { return entry.first; });
    if (at != list.end() && at->first == key) return at->second;
    return list.insert(at, {key, 0})->second;
  };
  switch (test.kind) {
    case TestKind::op: return in(decision.by_op, test.op);
    case TestKind::number:
    case TestKind::number_attribute: return in(decision.by_number, test.number);
    case TestKind::ints: return decision.by_ints[*test.ints];
    case TestKind::attribute: return in(decision.by_hash, test.hash);
    case TestKind::missing: break;
  }
  return decision.missing;
}

void Automaton::finish() {
  for (State& state : states_) {
    state.rules.shrink_to_fit();
    state.decisions.shrink_to_fit();
  }
}

/// One walk at one node: what is at each place is computed on first use.
struct Automaton::Walk {
  const Automaton& a;
  GraphQuery query;
  NodeId root;
  std::vector<uint32_t>& out;

  /// The node that makes the value at a place; none where there is none.
  NodeId node_at(uint32_t place) const { return place == 0 ? root : query.producer(value_at(place)); }
  /// place > 0. Only called where the parent is a node.
  ValueId value_at(uint32_t place) const {
    const NodeId parent = node_at(a.places_[place].parent);
    return parent ? query.operand(parent, a.places_[place].slot) : ValueId{};
  }

  void enter(uint32_t index) {
    const State& state = a.states_[index];
    out.insert(out.end(), state.rules.begin(), state.rules.end());
    for (const Decision& decision : state.decisions) follow_decision(decision);
  }

  void follow_decision(const Decision& decision) {
    switch (decision.test.kind) {
      case TestKind::op: return follow_op(decision);
      case TestKind::number:
        if (const auto number = query.number(value_at(decision.test.place))) enter_near(decision, *number, 8e-3);
        return;
      case TestKind::ints:
        if (const auto ints = query.ints(value_at(decision.test.place)))
          if (const auto it = decision.by_ints.find(*ints); it != decision.by_ints.end()) enter(it->second);
        return;
      case TestKind::missing:
        if (!value_at(decision.test.place)) enter(decision.missing);
        return;
      case TestKind::number_attribute:
      case TestKind::attribute: return follow_attribute(decision);
    }
  }

  void follow_op(const Decision& decision) {
    const NodeId node = node_at(decision.test.place);
    if (!node) return;
    const ir::Op* op = query.node(node).op;
    const auto at = std::ranges::lower_bound(decision.by_op, op, {}, &std::pair<const ir::Op*, uint32_t>::first);
    if (at != decision.by_op.end() && at->first == op) enter(at->second);
  }

  void follow_attribute(const Decision& decision) {
    const ir::Attribute* found = query.node(node_at(decision.test.place)).attributes.find(decision.test.attribute->name);
    if (!found && decision.test.attribute->has_default) found = &decision.test.attribute->default_value;
    if (!found) return;
    if (decision.test.kind == TestKind::number_attribute) {
      if (const auto* i = std::get_if<int64_t>(found)) enter_near(decision, static_cast<double>(*i), 1e-6);
      else if (const auto* f = std::get_if<float>(found)) enter_near(decision, *f, 1e-6);
      return;
    }
    const size_t hash = ir::hash_of(*found);
    const auto at = std::ranges::lower_bound(decision.by_hash, hash, {}, &std::pair<size_t, uint32_t>::first);
    if (at != decision.by_hash.end() && at->first == hash) enter(at->second);
  }

  /// All wanted numbers that could equal this one with the tolerance of any dtype.
  void enter_near(const Decision& decision, double number, double tolerance) {
    const double margin = std::abs(number) * 2 * tolerance;
    auto at = std::ranges::lower_bound(decision.by_number, number - margin, {}, &std::pair<double, uint32_t>::first);
    for (; at != decision.by_number.end() && at->first <= number + margin; ++at) enter(at->second);
  }
};

void Automaton::candidates(const Graph& graph, NodeId node, std::vector<uint32_t>& out) const {
  Walk{*this, GraphQuery(graph), node, out}.enter(0);
}

}  // namespace tenon::rewrite
