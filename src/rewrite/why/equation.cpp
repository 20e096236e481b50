// SPDX-License-Identifier: Apache-2.0
#include "rewrite/why/equation.h"

#include <fmt/format.h>

#include <array>

namespace tenon::rewrite {
namespace {

using Kind = Mismatch::Kind;

/// Ops whose result has the elements of their first operand; where the pattern lacks them, one of them may be all that is in the way.
constexpr std::array<std::string_view, 9> kDataPassingOps = {"Cast",      "Identity", "Reshape", "Transpose", "Squeeze",
                                                             "Unsqueeze", "Flatten",  "Dropout", "Expand"};

bool same(const Mismatch& a, const Mismatch& b) {
  return a.kind == b.kind && a.index == b.index && a.attribute_index == b.attribute_index && a.value == b.value && a.node == b.node;
}

/// The trace of one attempt: waives and skips what the hypotheses state, and records all other mismatches.
class WhyTrace {
 public:
  static constexpr bool kOn = true;
  static constexpr size_t kMostRecords = 64;

  WhyTrace(const Equation& equation, const std::vector<Hypothesis>& hypotheses) : equation_(equation), hypotheses_(hypotheses) {}

  ValueId resolve(const Match& m, ValueId value) const {
    for (size_t hops = 0; hops <= hypotheses_.size(); ++hops) {
      const NodeId node = m.producer(value);
      const bool skipped =
          node && std::ranges::any_of(hypotheses_, [&](const Hypothesis& s) { return s.kind == Hypothesis::Kind::skip && s.node == node; });
      if (!skipped) return value;
      value = m.operand(node, 0);
    }
    return value;
  }

  bool is_waived(const Mismatch& mismatch, const Match& m, const Bindings& b) {
    for (const Hypothesis& s : hypotheses_)
      if (s.kind == Hypothesis::Kind::waive && same(s.mismatch, mismatch)) return true;
    const auto known = std::ranges::find_if(records_, [&](const MismatchRecord& n) { return same(n.mismatch, mismatch); });
    if (known != records_.end() && known->depth >= depth_) return false;
    if (known == records_.end() && records_.size() >= kMostRecords) return false;
    MismatchRecord record = record_of(mismatch, m, b);
    if (known != records_.end()) *known = std::move(record);
    else records_.push_back(std::move(record));
    return false;
  }

  void add_depth(int parts) { depth_ += parts; }

  std::vector<MismatchRecord> take() {
    std::ranges::sort(records_, {}, [](const MismatchRecord& n) { return std::pair(-n.depth, n.order); });
    return std::move(records_);
  }

 private:
  MismatchRecord record_of(const Mismatch& mismatch, const Match& m, const Bindings& b) const {
    MismatchRecord n{mismatch, depth_, records_.size(), {}, {}, {}, {m.nodes.begin(), m.nodes.end()}};
    n.found = describe(m, mismatch.value);
    if (mismatch.kind != Kind::condition && mismatch.index >= 0) n.expected = equation_.text(mismatch.index);
    switch (mismatch.kind) {
      case Kind::op:
      case Kind::missing: break;
      case Kind::result: n.found = fmt::format("result {} of {}", m.value(mismatch.value).index, n.found); break;
      case Kind::present: n.expected = "no operand"; break;
      case Kind::number:
      case Kind::ints: n.found = constant_before(mismatch, m) + n.found; break;
      case Kind::variable: n.expected += fmt::format(", which is {} elsewhere", describe(m, mismatch.expected)); break;
      case Kind::attribute: describe_attribute(n, m, b); break;
      case Kind::arity: n.found = fmt::format("{} operands", operands_of(m, mismatch.node)); break;
      case Kind::other_root: n.found = "no such node in addition to the first root"; break;
      case Kind::condition: describe_condition(n, m, b); break;
    }
    const NodeId asked = mismatch.node ? mismatch.node : m.producer(mismatch.value);
    if (mismatch.kind == Kind::attribute || mismatch.kind == Kind::arity) n.at = describe(m, asked);
    else if (!m.nodes.empty() && mismatch.kind != Kind::condition) n.at = fmt::format("below {}", describe(m, m.nodes.back()));
    return n;
  }

  /// "3, " or "[1,2], " where the value is such a constant.
  static std::string constant_before(const Mismatch& mismatch, const Match& m) {
    const auto number = mismatch.kind == Kind::number ? m.number(mismatch.value) : std::nullopt;
    const auto ints = mismatch.kind == Kind::ints ? m.ints(mismatch.value) : std::nullopt;
    if (number) return fmt::format("{}, ", *number);
    return ints ? fmt::format("{}, ", text_of(TermValue(*ints))) : std::string();
  }

  static size_t operands_of(const Match& m, NodeId node) {
    const Node& n = m.node(node);
    return static_cast<size_t>(std::count_if(n.inputs.begin(), n.inputs.begin() + n.explicit_inputs, [](ValueId v) { return bool(v); }));
  }

  void describe_attribute(MismatchRecord& n, const Match& m, const Bindings& b) const {
    const Term::AttributePattern& pattern =
        equation_.terms[static_cast<size_t>(n.mismatch.index)].attributes[static_cast<size_t>(n.mismatch.attribute_index)];
    const ir::Attribute* found = m.node(n.mismatch.node).attributes.find(pattern.name);
    const bool defaulted = !found && pattern.has_default;
    if (defaulted) found = &pattern.default_value;
    const Answer wanted = evaluate(equation_, pattern.expression, b, m);
    n.expected = fmt::format("{}={}", pattern.name, wanted ? text_of(*wanted) : "...");
    n.found = found ? fmt::format("{}={}{}", pattern.name, text_of(term_value_of(*found)), defaulted ? " (its default)" : "")
                    : fmt::format("no attribute {}", pattern.name);
  }

  void describe_condition(MismatchRecord& n, const Match& m, const Bindings& b) const {
    const Condition& c = equation_.conditions[static_cast<size_t>(n.mismatch.index)];
    n.expected = c.text;
    n.found = values_in(c.expression, m, b);
    if (n.found.empty()) n.found = "it does not hold";
  }

  /// Empty for a literal and for a value of the graph.
  std::string side_of_comparison(const Expression& e, size_t i, const Match& m, const Bindings& b) const {
    if (equation_.expressions[static_cast<size_t>(e.arguments[i])].kind == Expression::Kind::literal) return {};
    const Answer value = evaluate(equation_, e.arguments[i], b, m);
    if (value && std::holds_alternative<ValueId>(*value)) return {};
    return fmt::format("{} side {}", i == 0 ? "left" : "right", value ? text_of(*value) : "has no answer");
  }

  /// Empty where it is not bound.
  std::string value_of_variable(int index, const Match& m, const Bindings& b) const {
    const Answer value = evaluate(equation_, index, b, m);
    if (!value) return {};
    const std::string name =
        "?" + equation_.variables[static_cast<size_t>(equation_.expressions[static_cast<size_t>(index)].variable)].name;
    if (const auto* v = std::get_if<ValueId>(&*value))
      return fmt::format("{} is {}{}", name, *v ? m.value(*v).type.text() + " " : "", describe(m, *v));
    return fmt::format("{} is {}", name, text_of(*value));
  }

  /// The names in a condition and the calls that it compares, with their values.
  std::string values_in(int index, const Match& m, const Bindings& b) const {
    const Expression& e = equation_.expressions[static_cast<size_t>(index)];
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

  const Equation& equation_;
  const std::vector<Hypothesis>& hypotheses_;
  std::vector<MismatchRecord> records_;
  int depth_ = 0;
};

bool passes_data_on(const GraphQuery& query, NodeId node) {
  if (!node || !query.operand(node, 0)) return false;
  const ir::Op& op = *query.node(node).op;
  return op.domain.empty() && std::ranges::find(kDataPassingOps, op.name) != kDataPassingOps.end();
}

}  // namespace

std::string describe(const GraphQuery& query, NodeId node) {
  const Node& n = query.node(node);
  const std::string& name = n.name.empty() && !n.outputs.empty() && n.outputs[0] ? query.value(n.outputs[0]).name : n.name;
  const std::string op = n.op->domain.empty() ? n.op->name : n.op->domain + "::" + n.op->name;
  return name.empty() ? fmt::format("a node {}", op) : fmt::format("'{}' ({})", name, op);
}

std::string describe(const GraphQuery& query, ValueId value) {
  if (!value) return "no operand";
  const Value& v = query.value(value);
  const std::string name = v.name.empty() ? "" : fmt::format(" '{}'", v.name);
  if (v.kind == Value::Kind::input) return "graph input" + name;
  if (v.kind == Value::Kind::constant) return fmt::format("constant {}{}", v.type.text(), name);
  return describe(query, v.producer);
}

TrialResult try_equation(const Equation& equation, const Graph& graph, NodeId root, const std::vector<Hypothesis>& hypotheses) {
  Match match(graph, root);
  WhyTrace trace(equation, hypotheses);
  Search<WhyTrace> search(equation, match, trace);
  TrialResult out;
  out.matched = search.run();
  for (NodeId node : match.nodes)
    if (std::ranges::find(out.nodes, node) == out.nodes.end()) out.nodes.push_back(node);
  for (size_t i = 1; i < search.bindings().roots.size(); ++i) out.other_roots.push_back(match.producer(search.bindings().roots[i]));
  out.mismatches = trace.take();
  return out;
}

std::vector<Hypothesis> hypotheses_for(const Equation& equation, const Graph& graph, const MismatchRecord& record) {
  const GraphQuery query(graph);
  const Mismatch& mismatch = record.mismatch;
  std::vector<Hypothesis> out;
  const auto skip = [&](ValueId value) {
    const NodeId node = query.producer(value);
    if (passes_data_on(query, node))
      out.push_back({Hypothesis::Kind::skip, {}, node, fmt::format("node {} were absent", describe(query, node))});
  };
  const auto waive = [&](std::string text) { out.push_back({Hypothesis::Kind::waive, mismatch, {}, std::move(text)}); };
  const auto written = [&] { return equation.text(mismatch.index); };
  if (mismatch.value) skip(mismatch.value);
  switch (mismatch.kind) {
    case Kind::number:
    case Kind::ints:
      if (query.is_constant(mismatch.value)) waive(fmt::format("the constant were {} (found {})", written(), record.found));
      else if (mismatch.value) waive(fmt::format("{} were the constant {}", describe(query, mismatch.value), written()));
      break;
    case Kind::variable:
      skip(mismatch.expected);
      waive(fmt::format("{} and {} were the same value", describe(query, mismatch.value), describe(query, mismatch.expected)));
      break;
    case Kind::attribute: waive(fmt::format("{} had {} (found {})", describe(query, mismatch.node), record.expected, record.found)); break;
    case Kind::present: waive(fmt::format("operand {} were missing", describe(query, mismatch.value))); break;
    case Kind::condition: waive(fmt::format("{} held ({})", record.expected, record.found)); break;
    case Kind::arity: waive(fmt::format("{} had another number of operands ({})", describe(query, mismatch.node), record.found)); break;
    case Kind::op:
    case Kind::result:
    case Kind::missing:
    case Kind::other_root: break;
  }
  return out;
}

}  // namespace tenon::rewrite
