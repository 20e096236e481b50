// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rewrite/equation.h"

namespace tenon::rewrite {
namespace {

/// Builds the right side bottom-up. A number takes the dtype of the first operand of its op that has one.
class Maker {
 public:
  Maker(const Equation& equation, const Match& match, const Bindings& bindings, Rewriter& rewriter, DType root)
      : e_(equation), m_(match), b_(bindings), w_(rewriter), root_(root) {}

  ValueId make(int term) {
    const Term& t = e_.terms[term];
    switch (t.kind) {
      case Term::Kind::variable: return b_.slots[t.variable].value;
      case Term::Kind::number: return w_.scalar(root_, t.number);
      case Term::Kind::ints: return w_.ints(t.ints);
      case Term::Kind::op: return op(t);
      case Term::Kind::missing:
      case Term::Kind::either: break;
    }
    return {};
  }
  bool failed() const { return failed_; }

 private:
  ValueId op(const Term& t) {
    std::vector<ValueId> inputs(t.operands.size());
    DType dtype = DType::none;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (e_.terms[t.operands[i]].kind == Term::Kind::number) continue;
      inputs[i] = make(t.operands[i]);
      if (dtype == DType::none && inputs[i]) dtype = m_.graph().value(inputs[i]).type.dtype;
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (e_.terms[t.operands[i]].kind == Term::Kind::number)
        inputs[i] = w_.scalar(dtype == DType::none ? root_ : dtype, e_.terms[t.operands[i]].number);
    while (!inputs.empty() && !inputs.back()) inputs.pop_back();
    ir::Attributes attributes;
    for (const Term::Given& given : t.attributes) {
      auto value = evaluate(e_, given.expression, b_, m_);
      if (!value) {
        failed_ = true;
        return {};
      }
      if (given.has_default && std::holds_alternative<float>(given.otherwise) && std::holds_alternative<int64_t>(*value))
        value = static_cast<float>(std::get<int64_t>(*value));
      attributes.set(given.name, std::move(*value));
    }
    const auto results =
        w_.many(*t.op, std::move(inputs), std::max<size_t>(t.result + 1u, static_cast<size_t>(t.op->min_outputs)), std::move(attributes));
    return t.result < results.size() ? results[t.result] : ValueId{};
  }

  const Equation& e_;
  const Match& m_;
  const Bindings& b_;
  Rewriter& w_;
  DType root_;
  bool failed_ = false;
};

}  // namespace

bool Equation::rewrite(const Match& match, Rewriter& rewriter) const {
  const Bindings& bindings = match.kept<Bindings>();
  for (size_t k = 0; k < right.size(); ++k) {
    const ValueId from = bindings.roots[k];
    Maker maker(*this, match, bindings, rewriter, match.dtype(from));
    const ValueId to = maker.make(right[k]);
    if (!to || maker.failed()) return false;
    rewriter.replace(from, to);
  }
  return true;
}

}  // namespace tenon::rewrite
