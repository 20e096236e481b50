// SPDX-License-Identifier: Apache-2.0
#include "rewrite/why/equation.h"

#include <fmt/format.h>

#include <array>

namespace tenon::rewrite {
namespace {

using What = Miss::What;

/// Ops that hand on the elements of their first operand: a pattern that knows nothing of them is missed because of them.
constexpr std::array<std::string_view, 9> kPassing = {"Cast",      "Identity", "Reshape", "Transpose", "Squeeze",
                                                      "Unsqueeze", "Flatten",  "Dropout", "Expand"};

bool same(const Miss& a, const Miss& b) {
  return a.what == b.what && a.index == b.index && a.part == b.part && a.value == b.value && a.node == b.node;
}

/// Follows the search; lets pass what is supposed, and keeps what else does not hold.
class WhyTrace {
 public:
  static constexpr bool kOn = true;
  static constexpr size_t kMostNoted = 64;

  WhyTrace(const Equation& equation, const std::vector<Supposition>& suppositions) : e_(equation), suppositions_(suppositions) {}

  ValueId through(const Match& m, ValueId value) const {
    for (size_t hops = 0; hops <= suppositions_.size(); ++hops) {
      const NodeId node = m.producer(value);
      const bool skipped = node && std::ranges::any_of(suppositions_, [&](const Supposition& s) {
                             return s.kind == Supposition::Kind::skip && s.node == node;
                           });
      if (!skipped) return value;
      value = m.operand(node, 0);
    }
    return value;
  }

  bool waived(const Miss& miss, const Match& m, const Bindings& b) {
    for (const Supposition& s : suppositions_)
      if (s.kind == Supposition::Kind::waive && same(s.miss, miss)) return true;
    const auto known = std::ranges::find_if(noted_, [&](const Noted& n) { return same(n.miss, miss); });
    if (known != noted_.end() && known->depth >= depth_) return false;
    if (known == noted_.end() && noted_.size() >= kMostNoted) return false;
    Noted noted = told(miss, m, b);
    if (known != noted_.end()) *known = std::move(noted);
    else noted_.push_back(std::move(noted));
    return false;
  }

  void passed(int parts) { depth_ += parts; }

  std::vector<Noted> take() {
    std::ranges::sort(noted_, {}, [](const Noted& n) { return std::pair(-n.depth, n.order); });
    return std::move(noted_);
  }

 private:
  Noted told(const Miss& miss, const Match& m, const Bindings& b) const {
    Noted n{miss, depth_, noted_.size(), {}, {}, {}, {m.nodes.begin(), m.nodes.end()}};
    n.found = describe(m, miss.value);
    if (miss.what != What::condition && miss.index >= 0) n.expected = e_.text(miss.index);
    switch (miss.what) {
      case What::op:
      case What::missing: break;
      case What::result: n.found = fmt::format("result {} of {}", m.value(miss.value).index, n.found); break;
      case What::present: n.expected = "no operand"; break;
      case What::number:
      case What::ints: n.found = constant_before(miss, m) + n.found; break;
      case What::variable: n.expected += fmt::format(", which is {} elsewhere", describe(m, miss.expected)); break;
      case What::attribute: tell_attribute(n, m, b); break;
      case What::arity: n.found = fmt::format("{} operands", operands_of(m, miss.node)); break;
      case What::other_root: n.found = "no such node beside the first root"; break;
      case What::condition: tell_condition(n, m, b); break;
    }
    const NodeId asked = miss.node ? miss.node : m.producer(miss.value);
    if (miss.what == What::attribute || miss.what == What::arity) n.at = describe(m, asked);
    else if (!m.nodes.empty() && miss.what != What::condition) n.at = fmt::format("below {}", describe(m, m.nodes.back()));
    return n;
  }

  /// "3, " or "[1,2], " where the value is such a constant.
  static std::string constant_before(const Miss& miss, const Match& m) {
    const auto number = miss.what == What::number ? m.number(miss.value) : std::nullopt;
    const auto ints = miss.what == What::ints ? m.ints(miss.value) : std::nullopt;
    if (number) return fmt::format("{}, ", *number);
    return ints ? fmt::format("{}, ", text_of(TermValue(*ints))) : std::string();
  }

  static size_t operands_of(const Match& m, NodeId node) {
    const Node& n = m.node(node);
    return static_cast<size_t>(std::count_if(n.inputs.begin(), n.inputs.begin() + n.explicit_inputs, [](ValueId v) { return bool(v); }));
  }

  void tell_attribute(Noted& n, const Match& m, const Bindings& b) const {
    const Term::Given& given = e_.terms[static_cast<size_t>(n.miss.index)].attributes[static_cast<size_t>(n.miss.part)];
    const ir::Attribute* found = m.node(n.miss.node).attributes.find(given.name);
    const bool defaulted = !found && given.has_default;
    if (defaulted) found = &given.otherwise;
    const Answer wanted = evaluate(e_, given.expression, b, m);
    n.expected = fmt::format("{}={}", given.name, wanted ? text_of(*wanted) : "...");
    n.found = found ? fmt::format("{}={}{}", given.name, text_of(term_value_of(*found)), defaulted ? " (its default)" : "")
                    : fmt::format("no attribute {}", given.name);
  }

  void tell_condition(Noted& n, const Match& m, const Bindings& b) const {
    const Condition& c = e_.conditions[static_cast<size_t>(n.miss.index)];
    n.expected = c.text;
    n.found = values_in(c.expression, m, b);
    if (n.found.empty()) n.found = "it does not hold";
  }

  /// Empty for a literal and for a value of the graph.
  std::string side_of_comparison(const Expression& e, size_t i, const Match& m, const Bindings& b) const {
    if (e_.expressions[static_cast<size_t>(e.arguments[i])].kind == Expression::Kind::literal) return {};
    const Answer value = evaluate(e_, e.arguments[i], b, m);
    if (value && std::holds_alternative<ValueId>(*value)) return {};
    return fmt::format("{} side {}", i == 0 ? "left" : "right", value ? text_of(*value) : "has no answer");
  }

  /// Empty where it is not bound.
  std::string value_of_variable(int index, const Match& m, const Bindings& b) const {
    const Answer value = evaluate(e_, index, b, m);
    if (!value) return {};
    const std::string name = "?" + e_.variables[static_cast<size_t>(e_.expressions[static_cast<size_t>(index)].variable)].name;
    if (const auto* v = std::get_if<ValueId>(&*value))
      return fmt::format("{} is {}{}", name, *v ? m.value(*v).type.text() + " " : "", describe(m, *v));
    return fmt::format("{} is {}", name, text_of(*value));
  }

  /// The names that a condition asks about, and the calls that it compares, with what they stand for.
  std::string values_in(int index, const Match& m, const Bindings& b) const {
    const Expression& e = e_.expressions[static_cast<size_t>(index)];
    using Kind = Expression::Kind;
    std::string out;
    const auto put = [&](const std::string& part) {
      if (!part.empty() && out.find(part) == std::string::npos) out += (out.empty() ? "" : ", ") + part;
    };
    if (e.kind == Kind::compare)
      for (size_t i = 0; i < e.arguments.size(); ++i) put(side_of_comparison(e, i, m, b));
    if (e.kind == Kind::variable) return value_of_variable(index, m, b);
    for (int a : e.arguments) put(values_in(a, m, b));
    return out;
  }

  const Equation& e_;
  const std::vector<Supposition>& suppositions_;
  std::vector<Noted> noted_;
  int depth_ = 0;
};

bool passes_on(const Look& look, NodeId node) {
  if (!node || !look.operand(node, 0)) return false;
  const ir::Op& op = *look.node(node).op;
  return op.domain.empty() && std::ranges::find(kPassing, op.name) != kPassing.end();
}

}  // namespace

std::string describe(const Look& look, NodeId node) {
  const Node& n = look.node(node);
  const std::string& name = n.name.empty() && !n.outputs.empty() && n.outputs[0] ? look.value(n.outputs[0]).name : n.name;
  const std::string op = n.op->domain.empty() ? n.op->name : n.op->domain + "::" + n.op->name;
  return name.empty() ? fmt::format("a node {}", op) : fmt::format("'{}' ({})", name, op);
}

std::string describe(const Look& look, ValueId value) {
  if (!value) return "no operand";
  const Value& v = look.value(value);
  const std::string name = v.name.empty() ? "" : fmt::format(" '{}'", v.name);
  if (v.kind == Value::Kind::input) return "graph input" + name;
  if (v.kind == Value::Kind::constant) return fmt::format("constant {}{}", v.type.text(), name);
  return describe(look, v.producer);
}

Tried try_equation(const Equation& equation, const Graph& graph, NodeId root, const std::vector<Supposition>& suppositions) {
  Match match(graph, root);
  WhyTrace trace(equation, suppositions);
  Search<WhyTrace> search(equation, match, trace);
  Tried out;
  out.matched = search.run();
  for (NodeId node : match.nodes)
    if (std::ranges::find(out.nodes, node) == out.nodes.end()) out.nodes.push_back(node);
  for (size_t i = 1; i < search.bindings().roots.size(); ++i) out.other_roots.push_back(match.producer(search.bindings().roots[i]));
  out.misses = trace.take();
  return out;
}

std::vector<Supposition> suppositions_for(const Equation& equation, const Graph& graph, const Noted& noted) {
  const Look look(graph);
  const Miss& miss = noted.miss;
  std::vector<Supposition> out;
  const auto skip = [&](ValueId value) {
    const NodeId node = look.producer(value);
    if (passes_on(look, node)) out.push_back({Supposition::Kind::skip, {}, node, fmt::format("node {} were absent", describe(look, node))});
  };
  const auto waive = [&](std::string text) { out.push_back({Supposition::Kind::waive, miss, {}, std::move(text)}); };
  const auto written = [&] { return equation.text(miss.index); };
  if (miss.value) skip(miss.value);
  switch (miss.what) {
    case What::number:
    case What::ints:
      if (look.is_constant(miss.value)) waive(fmt::format("the constant were {} (found {})", written(), noted.found));
      else if (miss.value) waive(fmt::format("{} were the constant {}", describe(look, miss.value), written()));
      break;
    case What::variable:
      skip(miss.expected);
      waive(fmt::format("{} and {} were the same value", describe(look, miss.value), describe(look, miss.expected)));
      break;
    case What::attribute: waive(fmt::format("{} had {} (found {})", describe(look, miss.node), noted.expected, noted.found)); break;
    case What::present: waive(fmt::format("operand {} were missing", describe(look, miss.value))); break;
    case What::condition: waive(fmt::format("{} held ({})", noted.expected, noted.found)); break;
    case What::arity: waive(fmt::format("{} had another number of operands ({})", describe(look, miss.node), noted.found)); break;
    case What::op:
    case What::result:
    case What::missing:
    case What::other_root: break;
  }
  return out;
}

}  // namespace tenon::rewrite
