// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rewrite/equation/equation.h"

namespace tenon::rewrite {
namespace {

using TermKind = Term::Kind;

/// Builds the right side bottom-up. A number takes the dtype of the first operand of its op that has one; equal terms are built once.
class Maker {
 public:
  Maker(const Equation& equation, const Match& match, const Bindings& bindings, Rewriter& rewriter)
      : e_(equation), m_(match), b_(bindings), w_(rewriter) {}

  /// none where it cannot be said, or where the term is an operand that is missing.
  ValueId make(int term, DType hint) {
    const Term& t = e_.terms[static_cast<size_t>(term)];
    switch (t.kind) {
      case TermKind::variable: return b_.slots[static_cast<size_t>(t.variable)].value;
      case TermKind::number: return w_.scalar(hint, t.number);
      case TermKind::ints: return w_.ints(t.ints);
      case TermKind::tensor: return w_.constant(t.tensor);
      case TermKind::computed: return computed(t, hint);
      case TermKind::op: return op(term, hint);
      case TermKind::rest:
      case TermKind::missing:
      case TermKind::either: break;
    }
    return {};
  }
  bool failed() const { return failed_; }

 private:
  struct Made {
    int term;
    std::vector<ValueId> results;
  };

  ValueId fail() {
    failed_ = true;
    return {};
  }

  ValueId op(int term, DType hint) {
    const Term& t = e_.terms[static_cast<size_t>(term)];
    const auto known = std::ranges::find_if(made_, [&](const Made& m) { return same_op(m.term, term); });
    if (known != made_.end()) return t.result < known->results.size() ? known->results[t.result] : ValueId{};
    ir::Attributes attributes;
    for (const Term::AttributePattern& given : t.attributes) {
      const Answer value = evaluate(e_, given.expression, b_, m_);
      auto attribute = value ? attribute_of(*value, given.floating) : std::nullopt;
      if (!attribute) return fail();
      attributes.set(given.name, std::move(*attribute));
    }
    std::vector<ValueId> inputs = operands(t, hint);
    if (failed_) return {};
    auto results = w_.many(*t.op, std::move(inputs), results_of(term), std::move(attributes));
    made_.push_back({term, results});
    return t.result < results.size() ? results[t.result] : ValueId{};
  }

  /// Operands with a type of their own first: they determine the type of numbers next to them. Bools choose (Where) and come last.
  std::vector<ValueId> operands(const Term& t, DType hint) {
    std::vector<std::vector<ValueId>> parts(t.operands.size());
    DType dtype = DType::none;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Term& o = e_.terms[static_cast<size_t>(t.operands[i])];
      if (is_untyped(o)) continue;
      if (o.kind == TermKind::rest) parts[i] = b_.rests[static_cast<size_t>(o.variable)];
      else parts[i] = {make(t.operands[i], hint)};
      for (ValueId v : parts[i])
        if (v && (dtype == DType::none || dtype == DType::boolean)) dtype = m_.dtype(v);
    }
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (is_untyped(e_.terms[static_cast<size_t>(t.operands[i])])) parts[i] = {make(t.operands[i], dtype == DType::none ? hint : dtype)};
      inputs.insert(inputs.end(), parts[i].begin(), parts[i].end());
    }
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    return inputs;
  }

  static bool is_untyped(const Term& t) { return t.kind == TermKind::number || (t.kind == TermKind::computed && t.dtype < 0); }

  ValueId computed(const Term& t, DType hint) {
    const Answer value = evaluate(e_, t.expression, b_, m_);
    if (!value) return fail();
    if (t.dtype >= 0) {
      const Answer wanted = evaluate(e_, t.dtype, b_, m_);
      if (!wanted || !std::holds_alternative<DType>(*wanted)) return fail();
      hint = std::get<DType>(*wanted);
    }
    const auto typed = [&](DType own, Tensor tensor) {
      if (t.dtype < 0 || hint == own) return w_.constant(std::move(tensor));
      return w_.constant(ir::cast(ir::constant_of(std::move(tensor)), hint));
    };
    if (const auto* v = std::get_if<ValueId>(&*value)) return *v ? *v : fail();
    if (const auto* tensor = std::get_if<Tensor>(&*value)) return typed(tensor->dtype(), *tensor);
    if (const auto number = as_number(*value)) return hint == DType::none ? fail() : w_.scalar(hint, *number);
    if (const auto* numbers = std::get_if<Numbers>(&*value)) {
      auto tensor = Tensor::make(hint, {static_cast<int64_t>(numbers->size())});
      if (!tensor || !is_real_arithmetic(hint)) return fail();
      store_numbers(*tensor, *numbers);
      return w_.constant(std::move(*tensor));
    }
    const auto list = attribute_of(*value);
    if (!list || !std::holds_alternative<ir::Ints>(*list)) return fail();
    const auto& ints = std::get<ir::Ints>(*list);
    return typed(DType::i64, Tensor::of_i64({static_cast<int64_t>(ints.size())}, ints));
  }

  /// As many results as terms for the same node use.
  size_t results_of(int term) const {
    const Term& t = e_.terms[static_cast<size_t>(term)];
    size_t most = std::max<size_t>({1, t.results, static_cast<size_t>(t.op->min_outputs)});
    for (size_t i = 0; i < e_.terms.size(); ++i)
      if (e_.terms[i].kind == TermKind::op && same_op(static_cast<int>(i), term)) most = std::max<size_t>(most, e_.terms[i].result + 1u);
    return most;
  }

  /// The same node, whichever of its results is meant.
  bool same_op(int a, int b) const {
    const Term &x = e_.terms[static_cast<size_t>(a)], &y = e_.terms[static_cast<size_t>(b)];
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
    const Term &x = e_.terms[static_cast<size_t>(a)], &y = e_.terms[static_cast<size_t>(b)];
    if (a == b) return true;
    if (x.kind != y.kind) return false;
    switch (x.kind) {
      case TermKind::op: return x.result == y.result && same_op(a, b);
      case TermKind::variable:
      case TermKind::rest: return x.variable == y.variable;
      case TermKind::number: return x.number == y.number;
      case TermKind::ints: return x.ints == y.ints;
      case TermKind::missing: return true;
      case TermKind::tensor: return ir::same(ir::Attribute(x.tensor), ir::Attribute(y.tensor));
      case TermKind::computed: return x.dtype == y.dtype && same_expression(x.expression, y.expression);
      case TermKind::either: break;
    }
    return false;
  }
  bool same_expression(int a, int b) const {
    const Expression &x = e_.expressions[static_cast<size_t>(a)], &y = e_.expressions[static_cast<size_t>(b)];
    if (a == b) return true;
    if (x.kind != y.kind || x.variable != y.variable || x.function != y.function || x.named != y.named || x.compare != y.compare)
      return false;
    if (x.kind == Expression::Kind::literal && equal(x.literal, y.literal) != true) return false;
    return std::ranges::equal(x.arguments, y.arguments, [&](int p, int q) { return same_expression(p, q); });
  }

  const Equation& e_;
  const Match& m_;
  const Bindings& b_;
  Rewriter& w_;
  std::vector<Made> made_;
  bool failed_ = false;
};

}  // namespace

bool Equation::rewrite(const Match& match, Rewriter& rewriter) const {
  const Bindings& bindings = match.kept<Bindings>();
  Maker maker(*this, match, bindings, rewriter);
  for (size_t k = 0; k < right.size(); ++k) {
    const ValueId from = bindings.roots[k], to = maker.make(right[k], match.dtype(from));
    if (!to || maker.failed()) return false;
    rewriter.replace(from, to);
  }
  return true;
}

}  // namespace tenon::rewrite
