// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rewrite/equation/equation.h"

namespace tenon::rewrite {
namespace {

using TermKind = Term::Kind;

/// Builds the right side bottom-up. A number takes the dtype of the first operand of its op that has one; equal terms are built once.
class RightSideBuilder {
 public:
  RightSideBuilder(const Equation& equation, const Match& match, const Bindings& bindings, Rewriter& rewriter)
      : equation_(equation), match_(match), bindings_(bindings), rewriter_(rewriter) {}

  /// none where it cannot be determined, or where the term is an operand that is missing.
  ValueId build(int term, DType hint) {
    const Term& t = equation_.terms[static_cast<size_t>(term)];
    switch (t.kind) {
      case TermKind::variable: return bindings_.slots[static_cast<size_t>(t.variable)].value;
      case TermKind::number: return rewriter_.scalar(hint, t.number);
      case TermKind::ints: return rewriter_.ints(t.ints);
      case TermKind::tensor: return rewriter_.constant(t.tensor);
      case TermKind::computed_constant: return computed(t, hint);
      case TermKind::op: return op(term, hint);
      case TermKind::variadic:
      case TermKind::missing:
      case TermKind::alternatives: break;
    }
    return {};
  }
  bool failed() const { return failed_; }

 private:
  struct BuiltNode {
    int term;
    std::vector<ValueId> results;
  };

  ValueId fail() {
    failed_ = true;
    return {};
  }

  ValueId op(int term, DType hint) {
    const Term& t = equation_.terms[static_cast<size_t>(term)];
    const auto known = std::ranges::find_if(built_, [&](const BuiltNode& b) { return same_op(b.term, term); });
    if (known != built_.end()) return t.result < known->results.size() ? known->results[t.result] : ValueId{};
    ir::Attributes attributes;
    for (const Term::AttributePattern& pattern : t.attributes) {
      const Answer value = evaluate(equation_, pattern.expression, bindings_, match_);
      auto attribute = value ? attribute_of(*value, pattern.floating) : std::nullopt;
      if (!attribute) return fail();
      attributes.set(pattern.name, std::move(*attribute));
    }
    std::vector<ValueId> inputs = operands(t, hint);
    if (failed_) return {};
    auto results = rewriter_.many(*t.op, std::move(inputs), results_of(term), std::move(attributes));
    built_.push_back({term, results});
    return t.result < results.size() ? results[t.result] : ValueId{};
  }

  /// Operands with a type of their own first: they determine the type of numbers next to them. Bools choose (Where) and come last.
  std::vector<ValueId> operands(const Term& t, DType hint) {
    std::vector<std::vector<ValueId>> parts(t.operands.size());
    DType dtype = DType::none;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Term& o = equation_.terms[static_cast<size_t>(t.operands[i])];
      if (is_untyped(o)) continue;
      if (o.kind == TermKind::variadic) parts[i] = bindings_.variadic_values[static_cast<size_t>(o.variable)];
      else parts[i] = {build(t.operands[i], hint)};
      for (ValueId v : parts[i])
        if (v && (dtype == DType::none || dtype == DType::boolean)) dtype = match_.dtype(v);
    }
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (is_untyped(equation_.terms[static_cast<size_t>(t.operands[i])]))
        parts[i] = {build(t.operands[i], dtype == DType::none ? hint : dtype)};
      inputs.insert(inputs.end(), parts[i].begin(), parts[i].end());
    }
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    return inputs;
  }

  static bool is_untyped(const Term& t) { return t.kind == TermKind::number || (t.kind == TermKind::computed_constant && t.dtype < 0); }

  ValueId computed(const Term& t, DType hint) {
    const Answer value = evaluate(equation_, t.expression, bindings_, match_);
    if (!value) return fail();
    if (t.dtype >= 0) {
      const Answer wanted = evaluate(equation_, t.dtype, bindings_, match_);
      if (!wanted || !std::holds_alternative<DType>(*wanted)) return fail();
      hint = std::get<DType>(*wanted);
    }
    const auto typed = [&](DType own, Tensor tensor) {
      if (t.dtype < 0 || hint == own) return rewriter_.constant(std::move(tensor));
      return rewriter_.constant(ir::cast(ir::constant_of(std::move(tensor)), hint));
    };
    if (const auto* v = std::get_if<ValueId>(&*value)) return *v ? *v : fail();
    if (const auto* tensor = std::get_if<Tensor>(&*value)) return typed(tensor->dtype(), *tensor);
    if (const auto number = as_number(*value)) return hint == DType::none ? fail() : rewriter_.scalar(hint, *number);
    if (const auto* numbers = std::get_if<Numbers>(&*value)) {
      auto tensor = Tensor::make(hint, {static_cast<int64_t>(numbers->size())});
      if (!tensor || !is_arithmetic_float(hint)) return fail();
      store_numbers(*tensor, *numbers);
      return rewriter_.constant(std::move(*tensor));
    }
    const auto list = attribute_of(*value);
    if (!list || !std::holds_alternative<ir::Ints>(*list)) return fail();
    const auto& ints = std::get<ir::Ints>(*list);
    return typed(DType::i64, Tensor::of_i64({static_cast<int64_t>(ints.size())}, ints));
  }

  /// The number of results of a node to build: as many as the terms for the same node refer to.
  size_t results_of(int term) const {
    const Term& t = equation_.terms[static_cast<size_t>(term)];
    size_t most = std::max<size_t>({1, t.results, static_cast<size_t>(t.op->min_outputs)});
    for (size_t i = 0; i < equation_.terms.size(); ++i)
      if (equation_.terms[i].kind == TermKind::op && same_op(static_cast<int>(i), term))
        most = std::max<size_t>(most, equation_.terms[i].result + 1u);
    return most;
  }

  /// Whether two terms are the same node, possibly with different results.
  bool same_op(int a, int b) const {
    const Term &x = equation_.terms[static_cast<size_t>(a)], &y = equation_.terms[static_cast<size_t>(b)];
    if (a == b) return true;
    if (x.op != y.op || x.operands.size() != y.operands.size() || x.attributes.size() != y.attributes.size()) return false;
    for (size_t i = 0; i < x.operands.size(); ++i)
      if (!same_term(x.operands[i], y.operands[i])) return false;
    for (size_t i = 0; i < x.attributes.size(); ++i)
      if (x.attributes[i].name != y.attributes[i].name || !same_expression(x.attributes[i].expression, y.attributes[i].expression))
        return false;
    return true;
  }
  bool same_term(int a, int b) const {
    const Term &x = equation_.terms[static_cast<size_t>(a)], &y = equation_.terms[static_cast<size_t>(b)];
    if (a == b) return true;
    if (x.kind != y.kind) return false;
    switch (x.kind) {
      case TermKind::op: return x.result == y.result && same_op(a, b);
      case TermKind::variable:
      case TermKind::variadic: return x.variable == y.variable;
      case TermKind::number: return x.number == y.number;
      case TermKind::ints: return x.ints == y.ints;
      case TermKind::missing: return true;
      case TermKind::tensor: return ir::same(ir::Attribute(x.tensor), ir::Attribute(y.tensor));
      case TermKind::computed_constant: return x.dtype == y.dtype && same_expression(x.expression, y.expression);
      case TermKind::alternatives: break;
    }
    return false;
  }
  bool same_expression(int a, int b) const {
    const Expression &x = equation_.expressions[static_cast<size_t>(a)], &y = equation_.expressions[static_cast<size_t>(b)];
    if (a == b) return true;
    if (x.kind != y.kind || x.variable != y.variable || x.function != y.function || x.custom_function != y.custom_function ||
        x.compare != y.compare)
      return false;
    if (x.kind == Expression::Kind::literal && equal(x.literal, y.literal) != true) return false;
    return std::ranges::equal(x.arguments, y.arguments, [&](int p, int q) { return same_expression(p, q); });
  }

  const Equation& equation_;
  const Match& match_;
  const Bindings& bindings_;
  Rewriter& rewriter_;
  std::vector<BuiltNode> built_;
  bool failed_ = false;
};

}  // namespace

bool Equation::rewrite(const Match& match, Rewriter& rewriter) const {
  const Bindings& bindings = match.state<Bindings>();
  RightSideBuilder builder(*this, match, bindings, rewriter);
  for (size_t k = 0; k < right.size(); ++k) {
    const ValueId from = bindings.roots[k], to = builder.build(right[k], match.dtype(from));
    if (!to || builder.failed()) return false;
    rewriter.replace(from, to);
  }
  return true;
}

}  // namespace tenon::rewrite
