// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/pattern_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ops/core/op.h"
#include "ops/core/schema.h"
#include "rewrite/match.h"

namespace tenon::rewrite {
namespace {

using Spec = ops::AttributeSpec;

/// "-1" as the schema writes a default; nullopt for kinds that have none.
std::optional<ir::Attribute> default_of(const Spec& spec) {
  if (spec.default_text.empty()) return std::nullopt;
  if (spec.kind == Spec::Kind::text) return std::string(spec.default_text);
  const std::string text(spec.default_text);
  if (spec.kind == Spec::Kind::number) return static_cast<float>(std::strtod(text.c_str(), nullptr));
  if (spec.kind == Spec::Kind::integer) return static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10));
  return std::nullopt;
}

/// Terms of one side. A value that is used twice is one term, mentioned twice.
class PatternSide {
 public:
  PatternSide(const Graph& graph, const PatternGraphOptions& options, bool left, Equation& out)
      : query_(graph), options_(options), left_(left), equation_(out) {}

  /// Records that an input of the pattern's graph is that variable.
  void bind(ValueId input, int variable) { variables_.emplace(input, variable); }

  Result<int> term(ValueId value) {
    if (const auto known = terms_.find(value); known != terms_.end()) return known->second;
    Term t = TRY(make(value));
    const bool any_rank = left_ && t.op && t.op->name == "Transpose" && t.op->domain.empty() &&
                          !query_.node(query_.value(value).producer).attributes.has("perm");
    return terms_[value] = any_rank && options_.compare_attributes ? transpose_without_perm(std::move(t)) : add(std::move(t));
  }

 private:
  int add(Term t) {
    equation_.terms.push_back(std::move(t));
    return static_cast<int>(equation_.terms.size()) - 1;
  }

  /// Transpose without `perm` reverses all axes, whatever their number: as exporters write it for each rank, or left out.
  int transpose_without_perm(Term t) {
    Term any;
    any.kind = Term::Kind::alternatives;
    const size_t absent = t.attributes.size() - 1;
    any.operands.push_back(add(t));
    ir::Ints perm;
    for (int64_t rank = 1; rank <= 6; ++rank) {
      perm.insert(perm.begin(), rank - 1);
      t.attributes.resize(absent);
      add_attribute_pattern(t, "perm", perm, std::nullopt);
      any.operands.push_back(add(t));
    }
    return add(std::move(any));
  }

  Result<Term> make(ValueId value) {
    Term t;
    if (!value) return t;
    const Value& v = query_.value(value);
    if (const auto variable = variables_.find(value); variable != variables_.end()) {
      t.kind = Term::Kind::variable;
      t.variable = variable->second;
      return t;
    }
    return v.is_constant() ? constant(value) : op(value, v);
  }

  /// On the left any constant of one float everywhere is a number; on the right a number is a scalar, so other shapes are kept.
  Result<Term> constant(ValueId value) {
    Term t;
    const Tensor* tensor = query_.graph().tensor_of(value);
    if (!tensor)
      return fail(Code::not_supported, query_.value(value).name, "not supported yet: a constant of more than 64 KB in a pattern")
          .advice("make it an input of the pattern");
    const auto number = is_arithmetic_float(tensor->dtype()) ? query_.number(value) : std::nullopt;
    if (number && (left_ || tensor->rank() == 0)) {
      t.kind = Term::Kind::number;
      t.number = *number;
    } else if (tensor->dtype() == DType::i64 && tensor->rank() == 1) {
      t.kind = Term::Kind::ints;
      t.ints = integers_of(*tensor);
    } else {
      t.kind = Term::Kind::tensor;
      t.tensor = *tensor;
    }
    return t;
  }

  Result<Term> op(ValueId value, const Value& v) {
    if (v.kind != Value::Kind::result) return fail(Code::bad_rule, v.name, "an input of this side that the other side does not have");
    const Node& node = query_.node(v.producer);
    if (!node.bodies.empty()) return fail(Code::not_supported, node.op->name, "not supported yet: a pattern with a body");
    if ((!node.op->deterministic && !node.op->unknown) || node.op->has_effects)
      return fail(Code::not_supported, node.op->name, "not supported: this op gives another result each time")
          .advice("write the rule as code");
    Term t;
    t.kind = Term::Kind::op;
    t.op = node.op;
    if (node.outputs.size() > UINT8_MAX)
      return fail(Code::not_supported, node.op->name, "not supported yet: a pattern with a node of more than 255 results");
    t.result = static_cast<uint8_t>(query_.value(value).index);
    if (!left_ && node.op->unknown) t.results = static_cast<uint16_t>(node.outputs.size());
    for (uint32_t k = 0; k < node.explicit_inputs; ++k) t.operands.push_back(TRY(term(node.inputs[k])));
    if (options_.compare_attributes || !left_) attributes(node, v.producer, t);
    return t;
  }

  void add_attribute_pattern(Term& t, std::string name, const ir::Attribute& value, std::optional<ir::Attribute> otherwise) {
    Term::AttributePattern pattern;
    pattern.name = std::move(name);
    pattern.expression = static_cast<int>(equation_.expressions.size());
    pattern.has_default = otherwise.has_value();
    if (otherwise) pattern.default_value = std::move(*otherwise);
    pattern.floating = std::holds_alternative<float>(value) || std::holds_alternative<ir::Floats>(value);
    Expression literal;
    literal.literal = term_value_of(value);
    equation_.expressions.push_back(std::move(literal));
    t.attributes.push_back(std::move(pattern));
  }

  /// On the right what the node has. On the left also what it leaves out: the default; where there is none, only absence will do.
  void attributes(const Node& node, NodeId id, Term& t) {
    const auto known = attribute_patterns_.find(id);
    t.exact_attributes = left_ && node.op->unknown;
    if (known != attribute_patterns_.end()) {
      t.attributes = known->second;
      return;
    }
    const auto specs = ops::attribute_specs(ops::def_of(*node.op));
    for (const auto& [name, value] : node.attributes) {
      const auto spec = std::ranges::find(specs, name, &Spec::name);
      add_attribute_pattern(t, name, value, spec == specs.end() ? std::nullopt : default_of(*spec));
    }
    for (const Spec& spec : specs) {
      if (!left_ || spec.kind == Spec::Kind::graph || node.attributes.has(spec.name)) continue;
      // No attribute of a model equals this, but the absent one does, as its own default.
      const ir::Attribute absent = ir::Strings{"", "absent"};
      const ir::Attribute wanted = default_of(spec).value_or(absent);
      add_attribute_pattern(t, std::string(spec.name), wanted, wanted);
    }
    attribute_patterns_.emplace(id, t.attributes);
  }

  GraphQuery query_;
  PatternGraphOptions options_;
  bool left_;
  Equation& equation_;
  std::unordered_map<ValueId, int> terms_;
  std::unordered_map<ValueId, int> variables_;
  std::unordered_map<NodeId, std::vector<Term::AttributePattern>> attribute_patterns_;  ///< results of one node share their expressions
};

std::string input_name(const Graph& graph, size_t k) {
  const std::string& name = graph.value(graph.inputs()[k]).name;
  return name.empty() ? fmt::format("x{}", k) : name;
}

/// The variables of `e`, those alone that are in `wanted`.
std::string names_of(const Equation& e, const std::vector<bool>& wanted) {
  std::string out;
  for (size_t k = 0; k < e.variables.size(); ++k)
    if (wanted[k]) out += (out.empty() ? "" : ", ") + e.variables[k].name;
  return out.empty() ? "none" : out;
}

/// The variable to which input `k` of the right side belongs: that of the same name, else that of the same position.
Result<int> variable_of(const Graph& apply, size_t k, const Equation& e) {
  const std::string name = input_name(apply, k);
  const auto found = std::ranges::find(e.variables, name, &Variable::name);
  if (found != e.variables.end()) return static_cast<int>(found - e.variables.begin());
  if (apply.inputs().size() == e.variables.size()) return static_cast<int>(k);
  return fail(Code::bad_rule, name, "the pattern has no such input")
      .expected(names_of(e, std::vector<bool>(e.variables.size(), true)))
      .found(name)
      .advice("give both sides the same inputs, by name or in the same number");
}

Result<void> left_side(const Graph& graph, const PatternGraphOptions& options, Equation& e) {
  PatternSide side(graph, options, true, e);
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    side.bind(graph.inputs()[k], static_cast<int>(k));
    e.variables.push_back({Variable::Kind::value, input_name(graph, k)});
  }
  for (ValueId output : graph.outputs()) {
    e.left.push_back(TRY(side.term(output)));
    if (e.terms[e.left.back()].kind != Term::Kind::op && e.terms[e.left.back()].kind != Term::Kind::alternatives)
      return fail(Code::bad_rule, graph.value(output).name, "an output of the pattern must be the result of an op");
  }
  if (e.left.empty()) return fail(Code::bad_rule, "pattern", "the pattern has no output");
  return {};
}

Result<void> right_side(const Graph& graph, const PatternGraphOptions& options, Equation& e) {
  PatternSide side(graph, options, false, e);
  std::vector<bool> bound(e.variables.size());
  for (const Term& t : e.terms)
    if (t.kind == Term::Kind::variable) bound[t.variable] = true;
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    const ValueId input = graph.inputs()[k];
    const int variable = TRY(variable_of(graph, k, e));
    if (!bound[variable] && !graph.value(input).uses.empty())
      return fail(Code::bad_rule, e.variables[variable].name, "the replacement uses an input that the pattern does not use")
          .expected(names_of(e, bound))
          .found(e.variables[variable].name)
          .advice("every input of the replacement must be found by the pattern");
    side.bind(input, variable);
  }
  for (ValueId output : graph.outputs()) e.right.push_back(TRY(side.term(output)));
  if (e.left.size() == e.right.size()) return {};
  return fail(Code::bad_rule, "replacement", "the replacement has another number of outputs")
      .expected(fmt::format("{}", e.left.size()))
      .found(fmt::format("{}", e.right.size()));
}

void visit(const Graph& graph, ValueId value, std::vector<NodeId>& out) {
  if (!value || graph.value(value).kind != Value::Kind::result) return;
  const NodeId id = graph.value(value).producer;
  if (std::ranges::find(out, id) != out.end()) return;
  out.push_back(id);
  for (uint32_t k = 0; k < graph.node(id).explicit_inputs; ++k) visit(graph, graph.node(id).inputs[k], out);
}

}  // namespace

Result<Equation> equation_of(const Graph& match, const Graph& apply, const PatternGraphOptions& options) {
  Equation e;
  TRY(left_side(match, options, e));
  TRY(right_side(apply, options, e));
  return e;
}

std::vector<NodeId> visit_order(const Graph& match) {
  std::vector<NodeId> out;
  for (ValueId output : match.outputs()) visit(match, output, out);
  return out;
}

}  // namespace tenon::rewrite
