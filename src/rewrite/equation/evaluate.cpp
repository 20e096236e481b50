// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "rewrite/equation/equation.h"
#include "rewrite/equation/functions.h"

namespace tenon::rewrite {
namespace {

using ExpressionKind = Expression::Kind;
using Compare = Expression::Compare;
using Slot = Bindings::Slot;

std::optional<bool> as_bool(const Answer& answer) {
  const auto number = answer ? as_number(*answer) : std::nullopt;
  return number ? std::optional(*number != 0) : std::nullopt;
}

std::optional<bool> negated(std::optional<bool> holds) { return holds ? std::optional(!*holds) : std::nullopt; }

Answer answer_of(std::optional<bool> holds) { return holds ? Answer(bool_value(*holds)) : std::nullopt; }

/// Evaluates expressions under bindings. Logic is three-valued: true, false, and not known (nullopt).
class Evaluator {
 public:
  Evaluator(const Equation& e, const Bindings& b, const Match& m) : equation_(e), bindings_(b), match_(m) {}

  Answer operator()(int index) const {
    const Expression& e = equation_.expressions[static_cast<size_t>(index)];
    switch (e.kind) {
      case ExpressionKind::literal: return e.literal;
      case ExpressionKind::variable: return variable(e.variable);
      case ExpressionKind::list: return list(e);
      case ExpressionKind::call: return call(e);
      case ExpressionKind::compare: return answer_of(compare(e));
      case ExpressionKind::negation: return answer_of(negated(as_bool((*this)(e.arguments[0]))));
      case ExpressionKind::conjunction: return answer_of(combine(e, false));
      case ExpressionKind::disjunction: return answer_of(combine(e, true));
      case ExpressionKind::wildcard:
      case ExpressionKind::ellipsis: break;
    }
    return std::nullopt;
  }

 private:
  Answer variable(int v) const {
    const Slot& slot = bindings_.slots[static_cast<size_t>(v)];
    switch (slot.kind) {
      case Slot::Kind::attribute: return term_value_of(*slot.attribute);
      case Slot::Kind::variadic: return TermValue(bindings_.variadic_values[static_cast<size_t>(v)]);
      case Slot::Kind::term_value: return bindings_.condition_values[static_cast<size_t>(v)];
      case Slot::Kind::value:
      case Slot::Kind::free: break;
    }
    return TermValue(slot.value);
  }

  /// Sizes where one element is a size, integers else, numbers where one has a fraction.
  Answer list(const Expression& e) const {
    ir::Ints ints;
    Numbers numbers;
    DimList dims;
    bool sizes = false;
    for (int a : e.arguments) {
      const Answer one = (*this)(a);
      if (!one) return std::nullopt;
      if (const auto i = as_integer(*one)) ints.push_back(*i);
      if (const auto n = as_number(*one)) numbers.push_back(*n);
      if (const auto d = as_dim(*one)) dims.push_back(*d);
      sizes |= std::holds_alternative<Dim>(*one);
    }
    if (sizes) return dims.size() == e.arguments.size() ? Answer(std::move(dims)) : std::nullopt;
    if (ints.size() == e.arguments.size()) return TermValue(std::move(ints));
    return numbers.size() == e.arguments.size() ? Answer(std::move(numbers)) : std::nullopt;
  }

  Answer call(const Expression& e) const {
    std::vector<TermValue> arguments;
    arguments.reserve(e.arguments.size());
    for (int a : e.arguments) {
      Answer one = (*this)(a);
      if (!one) return std::nullopt;
      arguments.push_back(std::move(*one));
    }
    return e.function ? e.function->call(match_, arguments) : e.custom_function->call(match_, arguments);
  }

  std::optional<bool> compare(const Expression& e) const {
    const Answer left = (*this)(e.arguments[0]);
    if (!left) return std::nullopt;
    if (e.compare == Compare::equal || e.compare == Compare::differs) {
      Bindings unchanged;  // nothing is bound below a top-level condition: the pattern is tested, not bound
      unchanged.slots = bindings_.slots;
      unchanged.variadic_values = bindings_.variadic_values;
      unchanged.condition_values = bindings_.condition_values;
      const auto same = unify(equation_, e.arguments[1], *left, unchanged, match_);
      return e.compare == Compare::equal ? same : negated(same);
    }
    const Answer right = (*this)(e.arguments[1]);
    return right ? in_order(e.compare, *left, *right) : std::nullopt;
  }

  static std::optional<bool> in_order(Compare comparison, const TermValue& left, const TermValue& right) {
    switch (comparison) {
      case Compare::less: return less(left, right);
      case Compare::greater: return less(right, left);
      case Compare::at_most: return negated(less(right, left));
      default: return negated(less(left, right));
    }
  }

  /// `some`: one that holds settles it; else one that does not.
  std::optional<bool> combine(const Expression& e, bool some) const {
    bool known = true;
    for (int a : e.arguments) {
      const auto one = as_bool((*this)(a));
      if (one == some) return some;
      known &= one.has_value();
    }
    return known ? std::optional(!some) : std::nullopt;
  }

  const Equation& equation_;
  const Bindings& bindings_;
  const Match& match_;
};

/// Elements of a list, one by one.
std::optional<std::vector<TermValue>> elements_of(const TermValue& found) {
  std::vector<TermValue> out;
  if (const auto dims = as_dims(found)) {
    for (Dim d : *dims) out.push_back(term_value_of(d));
    return out;
  }
  if (const auto* numbers = std::get_if<Numbers>(&found)) return std::vector<TermValue>(numbers->begin(), numbers->end());
  return std::nullopt;
}

std::optional<bool> unify_list(const Equation& equation, const Expression& e, const TermValue& found, Bindings& b, const Match& m) {
  const auto elements = elements_of(found);
  if (!elements) return std::nullopt;
  const auto dots = std::ranges::find_if(e.arguments, [&](int a) { return equation.expressions[a].kind == ExpressionKind::ellipsis; }) -
                    e.arguments.begin();
  const bool has_dots = dots < std::ssize(e.arguments);
  const auto fixed = std::ssize(e.arguments) - has_dots, size = std::ssize(*elements);
  if (size < fixed || (!has_dots && size != fixed)) return false;
  bool known = true;
  for (std::ptrdiff_t i = 0; i < fixed; ++i) {
    const std::ptrdiff_t at = i < dots ? i : size - fixed + i, pattern = i < dots ? i : i + has_dots;
    const auto one = unify(equation, e.arguments[static_cast<size_t>(pattern)], (*elements)[static_cast<size_t>(at)], b, m);
    if (one == false) return false;
    known &= one.has_value();
  }
  return known ? std::optional(true) : std::nullopt;
}

}  // namespace

Answer evaluate(const Equation& equation, int expression, const Bindings& bindings, const Match& match) {
  return Evaluator(equation, bindings, match)(expression);
}

std::optional<bool> unify(const Equation& equation, int pattern, const TermValue& found, Bindings& bindings, const Match& match) {
  const Expression& e = equation.expressions[static_cast<size_t>(pattern)];
  if (e.kind == ExpressionKind::wildcard) return true;
  if (e.kind == ExpressionKind::list) return unify_list(equation, e, found, bindings, match);
  if (e.kind == ExpressionKind::variable) {
    auto& slot = bindings.slots[static_cast<size_t>(e.variable)];
    if (slot.kind == Slot::Kind::free && equation.variables[static_cast<size_t>(e.variable)].kind == Variable::Kind::term_value) {
      slot.kind = Slot::Kind::term_value;
      bindings.condition_values.resize(equation.variables.size());
      bindings.condition_values[static_cast<size_t>(e.variable)] = found;
      return true;
    }
  }
  const Answer wanted = evaluate(equation, pattern, bindings, match);
  return wanted ? equal(found, *wanted) : std::nullopt;
}

}  // namespace tenon::rewrite
