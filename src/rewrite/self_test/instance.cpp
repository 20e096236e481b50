// SPDX-License-Identifier: Apache-2.0
#include "rewrite/self_test/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "ir/builder.h"
#include "rewrite/self_test/candidate_values.h"

namespace tenon::rewrite {
namespace {

using TermKind = Term::Kind;

constexpr std::array<std::string_view, 6> kUnary = {"Abs", "Relu", "Neg", "Exp", "Not", "Sqrt"};
constexpr std::array<std::string_view, 5> kBinary = {"Sub", "Mul", "Add", "Min", "Or"};

/// Builds the left side bottom-up.
class InstanceBuilder {
 public:
  InstanceBuilder(const InstanceSpec& spec, const ir::OpTable& ops)
      : spec_(spec),
        equation_(*spec.equation),
        graph_(std::make_unique<Graph>(ops)),
        build_(*graph_),
        candidates_(*graph_, build_, spec_.shape),
        values_(equation_.variables.size()),
        known_(equation_.variables.size()) {}

  BuiltInstance build() {
    std::vector<ValueId> outputs;
    for (int root : equation_.left) outputs.push_back(term(root, spec_.dtype));
    outputs.insert(outputs.end(), extra_outputs_.begin(), extra_outputs_.end());
    const bool is_valid = build_.status() && std::ranges::all_of(outputs, [](ValueId v) { return bool(v); });
    for (ValueId v : outputs)
      if (is_valid) graph_->add_output(v);
    return {std::move(other_domain_op_), std::move(graph_), is_valid};
  }

 private:
  uint32_t choice_of(int variable) const { return spec_.choices[static_cast<size_t>(variable)]; }
  bool has_mutation(Mutation::Kind kind, int term) const { return spec_.mutation.kind == kind && spec_.mutation.term == term; }

  ValueId variable(const Term& t, int index) {
    const auto v = static_cast<size_t>(t.variable);
    if (known_[v]) return has_mutation(Mutation::Kind::variable, index) ? like(values_[v]) : values_[v];
    known_[v] = true;
    if (t.optional && choice_of(t.variable) % 2 == 1) return {};
    return values_[v] = candidates_.value(t.optional ? choice_of(t.variable) / 2 : choice_of(t.variable), dtype_of(t.variable));
  }

  /// Another input of its type.
  ValueId like(ValueId value) {
    if (!value) return {};
    const ir::Type type = graph_->value(value).type;
    return type.shape ? graph_->add_input(fmt::format("other{}", graph_->inputs().size()), type) : ValueId();
  }

  DType dtype_of(int variable) const {
    const bool other = has_mutation(Mutation::Kind::dtype, variable) || has_mutation(Mutation::Kind::dtype, -1);
    return other ? static_cast<DType>(spec_.mutation.detail) : spec_.dtype;
  }

  ValueId term(int index, DType hint) {
    const Term& t = equation_.terms[static_cast<size_t>(index)];
    switch (t.kind) {
      case TermKind::variable: return variable(t, index);
      case TermKind::number: return number(t, index, hint);
      case TermKind::ints: return ints(t, index);
      case TermKind::tensor: return constant(t, index);
      case TermKind::alternatives:
        return term(t.operands[spec_.choices[equation_.variables.size() + static_cast<size_t>(index)] % t.operands.size()], hint);
      case TermKind::op: return op(t, index, hint);
      case TermKind::variadic:
      case TermKind::missing:
      case TermKind::computed_constant: break;
    }
    return {};
  }

  ValueId ints(const Term& t, int index) {
    ir::Ints out = t.ints;
    const bool other = has_mutation(Mutation::Kind::constant, index);
    if (other && out.empty()) out.push_back(0);
    else if (other) out.back() = out.back() == 0 ? 1 : 0;
    return build_.ints(std::move(out));
  }

  ValueId constant(const Term& t, int index) {
    if (!has_mutation(Mutation::Kind::constant, index) || t.tensor.count() == 0) return build_.constant(t.tensor);
    auto other = Tensor::make(t.tensor.dtype(), t.tensor.shape());
    if (!other) return {};
    store_numbers(*other, numbers_of(t.tensor));
    other->set_number(0, t.tensor.number(0) == 0 ? 1 : 0);
    return build_.constant(std::move(*other));
  }

  ValueId number(const Term& t, int index, DType hint) {
    double value = t.number;
    if (has_mutation(Mutation::Kind::constant, index)) value = std::isfinite(value) ? value * 1.5 + 1 + std::max(0.0, t.tolerance) * 4 : 1;
    return build_.scalar(hint, value);
  }

  std::vector<ValueId> operands(const Term& t, DType hint) {
    std::vector<ValueId> out;
    std::vector<std::pair<size_t, int>> numbers;
    DType dtype = DType::none;
    for (int o : t.operands) {
      const Term& part = equation_.terms[static_cast<size_t>(o)];
      if (part.kind == TermKind::number) {
        numbers.emplace_back(out.size(), o);
        out.emplace_back();
        continue;
      }
      if (part.kind == TermKind::variadic) {
        auto& rest = rests_[part.variable];
        if (rest.empty()) rest = {another_input(), another_input()};
        out.insert(out.end(), rest.begin(), rest.end());
        continue;
      }
      out.push_back(term(o, hint));
      if (out.back() && (dtype == DType::none || dtype == DType::boolean)) dtype = graph_->value(out.back()).type.dtype;
    }
    for (const auto& [place, o] : numbers) out[place] = term(o, dtype == DType::none ? hint : dtype);
    return out;
  }

  ir::Attributes attributes(const Term& t, int index) {
    ir::Attributes out;
    for (size_t i = 0; i < t.attributes.size(); ++i) {
      const Term::AttributePattern& pattern = t.attributes[i];
      const Expression& e = equation_.expressions[static_cast<size_t>(pattern.expression)];
      std::optional<ir::Attribute> value;
      if (e.kind == Expression::Kind::literal) value = attribute_of(e.literal, pattern.floating);
      else if (e.kind == Expression::Kind::variable) value = candidates_.attribute(pattern, choice_of(e.variable), spec_.dtype);
      if (has_mutation(Mutation::Kind::attribute, index) && spec_.mutation.detail == i && value) value = different_attribute(*value);
      if (value) out.set(pattern.name, std::move(*value));
    }
    return out;
  }

  ValueId op(const Term& t, int index, DType hint) {
    std::vector<ValueId> inputs = operands(t, hint);
    if (!build_.status()) return {};
    if (has_mutation(Mutation::Kind::fewer_operands, index) && !inputs.empty()) inputs.pop_back();
    if (has_mutation(Mutation::Kind::more_operands, index)) inputs.push_back(inputs.empty() ? another_input() : inputs.back());
    if (has_mutation(Mutation::Kind::swapped, index)) std::swap(inputs[0], inputs[1]);
    const ir::Op* op = t.op;
    ir::Attributes attributes = this->attributes(t, index);
    if (has_mutation(Mutation::Kind::op, index)) {
      op = other_op(*op, inputs.size());
      attributes = {};
    }
    if (has_mutation(Mutation::Kind::domain, index)) {
      if (!other_domain_op_) other_domain_op_ = op_in_other_domain(*op);  // a term may be met twice in one graph
      op = other_domain_op_.get();
    }
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    return result(t, index, *op, std::move(inputs), std::move(attributes));
  }

  ValueId result(const Term& t, int index, const ir::Op& op, std::vector<ValueId> inputs, ir::Attributes attributes) {
    size_t wanted = t.result;
    if (has_mutation(Mutation::Kind::result, index)) wanted = wanted == 0 ? 1 : wanted - 1;
    const size_t count = std::max({wanted + 1, results_of(t), static_cast<size_t>(op.min_outputs)});
    const auto results = build_.many(op, std::move(inputs), count, std::move(attributes));
    if (wanted >= results.size() || !build_.status()) return {};
    const ValueId made = results[wanted];
    if (has_mutation(Mutation::Kind::output, index)) extra_outputs_.push_back(made);
    if (has_mutation(Mutation::Kind::user, index)) extra_outputs_.push_back(build_("Identity", {made}));
    return made;
  }

  /// The number of results of a node: as many as all terms of the pattern for that node use (Split(?a).0 and Split(?a).1: 2).
  size_t results_of(const Term& t) const {
    size_t count = t.result + size_t{1};
    if (t.op->max_outputs == 1) return count;
    for (const Term& other : equation_.terms)
      if (is_alike(t, other)) count = std::max(count, other.result + size_t{1});
    return count;
  }

  /// But for the result that is requested.
  bool is_alike(const Term& a, const Term& b) const {
    if (a.kind != b.kind || a.op != b.op || a.variable != b.variable || a.number != b.number || a.ints != b.ints) return false;
    return std::ranges::equal(a.operands, b.operands, [&](int x, int y) {
      return is_alike(equation_.terms[static_cast<size_t>(x)], equation_.terms[static_cast<size_t>(y)]);
    });
  }

  const ir::Op* other_op(const ir::Op& op, size_t operands) const {
    const auto first = [&](const auto& names) {
      const auto other = std::ranges::find_if(names, [&](std::string_view name) { return name != op.name; });
      return graph_->ops().find("", *other);
    };
    return operands == 1 ? first(kUnary) : first(kBinary);
  }

  ValueId another_input() { return candidates_.input(spec_.dtype, spec_.shape); }

  const InstanceSpec& spec_;
  const Equation& equation_;
  std::unique_ptr<Graph> graph_;
  ir::Builder build_;
  CandidateValues candidates_;
  std::shared_ptr<const ir::Op> other_domain_op_;
  std::vector<ValueId> values_;
  std::vector<bool> known_;
  std::map<int, std::vector<ValueId>> rests_;
  std::vector<ValueId> extra_outputs_;
};

}  // namespace

BuiltInstance graph_of(const InstanceSpec& spec, const ir::OpTable& ops) { return InstanceBuilder(spec, ops).build(); }

}  // namespace tenon::rewrite
