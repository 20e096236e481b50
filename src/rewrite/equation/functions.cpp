// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/functions.h"

#include <algorithm>
#include <cmath>

namespace tenon::rewrite {
namespace {

using Arguments = std::span<const TermValue>;

Answer bool_answer(std::optional<bool> holds) { return holds ? Answer(bool_value(*holds)) : std::nullopt; }
std::optional<bool> both(std::optional<bool> a, std::optional<bool> b) {
  if (a == false || b == false) return false;
  return a && b ? std::optional(true) : std::nullopt;
}

ValueId value_of(const TermValue& d) {
  const auto* v = std::get_if<ValueId>(&d);
  return v ? *v : ValueId{};
}

/// A predicate of one value, or of every value of a rest.
template <class F>
Answer of_each(Arguments a, F holds) {
  if (const auto* rest = std::get_if<Values>(&a[0])) {
    std::optional<bool> all = true;
    for (ValueId v : *rest) all = both(all, v ? holds(v) : std::nullopt);
    return bool_answer(all);
  }
  const ValueId v = value_of(a[0]);
  return v ? bool_answer(holds(v)) : std::nullopt;
}
template <class F>
Answer of_value(Arguments a, F f) {
  const ValueId v = value_of(a[0]);
  return v ? f(v) : std::nullopt;
}
template <class F>
Answer of_two(Arguments a, F holds) {
  const ValueId x = value_of(a[0]), y = value_of(a[1]);
  return x && y ? bool_answer(holds(x, y)) : std::nullopt;
}

std::optional<bool> same_dims(const DimList* a, const DimList* b) { return a && b ? equal(TermValue(*a), TermValue(*b)) : std::nullopt; }

/// The last axis of `x` is what the constant `axes` names.
std::optional<bool> last_axis(const Match& m, ValueId axes, ValueId x) {
  const auto found = m.ints(axes);
  if (!found || found->size() != 1) return false;
  if ((*found)[0] == -1) return true;
  const auto rank = m.rank(x);
  return rank ? std::optional((*found)[0] == *rank - 1) : std::nullopt;
}

std::optional<bool> suffix(const Match& m, ValueId b, ValueId x) {
  const DimList *small = m.shape(b), *large = m.shape(x);
  if (!small || !large) return std::nullopt;
  if (small->size() != 1 || large->empty()) return false;
  return (*small)[0].equals(large->back());
}

/// x op b has the shape of x.
std::optional<bool> broadcasts(const Match& m, ValueId b, ValueId x) {
  const DimList *small = m.shape(b), *large = m.shape(x);
  if (!small || !large) return std::nullopt;
  if (small->size() > large->size()) return false;
  std::optional<bool> all = true;
  for (size_t i = 0; i < small->size(); ++i) {
    const Dim s = (*small)[i], l = (*large)[large->size() - small->size() + i];
    all = both(all, s.known_equal(1) ? std::optional(true) : s.equals(l));
  }
  return all;
}

std::optional<bool> all_known(const DimList* dims) {
  return dims && std::ranges::all_of(*dims, [](Dim d) { return d.is_number(); });
}

Answer dim(const Match& m, Arguments a) {
  const auto axis = as_integer(a[1]);
  std::optional<DimList> shape;
  if (const ValueId v = value_of(a[0])) shape = m.shape(v) ? std::optional(*m.shape(v)) : std::nullopt;
  else shape = as_dims(a[0]);
  if (!shape || !axis) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(shape->size()), at = *axis + (*axis < 0 ? rank : 0);
  return at >= 0 && at < rank ? Answer(term_value_of((*shape)[static_cast<size_t>(at)])) : std::nullopt;
}

Answer at(const Match&, Arguments a) {
  const auto index = as_integer(a[1]);
  if (!index) return std::nullopt;
  const auto pick = [&](const auto& list) -> Answer {
    const int64_t size = static_cast<int64_t>(list.size()), i = *index + (*index < 0 ? size : 0);
    return i >= 0 && i < size ? Answer(list[static_cast<size_t>(i)]) : std::nullopt;
  };
  if (const auto* ints = std::get_if<ir::Ints>(&a[0])) return pick(*ints);
  if (const auto* numbers = std::get_if<Numbers>(&a[0])) return pick(*numbers);
  if (const auto* values = std::get_if<Values>(&a[0])) return pick(*values);
  if (const auto* dims = std::get_if<DimList>(&a[0])) {
    const auto found = pick(*dims);
    return found ? Answer(term_value_of(std::get<Dim>(*found))) : std::nullopt;
  }
  return std::nullopt;
}

Answer length(const Match&, Arguments a) {
  if (const auto* values = std::get_if<Values>(&a[0])) return TermValue(static_cast<int64_t>(values->size()));
  if (const auto* numbers = std::get_if<Numbers>(&a[0])) return TermValue(static_cast<int64_t>(numbers->size()));
  const auto dims = as_dims(a[0]);
  return dims ? Answer(static_cast<int64_t>(dims->size())) : std::nullopt;
}

Answer product_of(const Match&, Arguments a) {
  const auto dims = as_dims(a[0]);
  if (!dims) return std::nullopt;
  const Dim all = product(*dims);
  return all.is_overflow() ? std::nullopt : Answer(term_value_of(all));
}

Answer join(const Match&, Arguments a) {
  DimList dims;
  ir::Ints ints;
  bool whole = true;
  for (const TermValue& d : a) {
    const auto part = as_dims(d);
    if (!part) return std::nullopt;
    dims.insert(dims.end(), part->begin(), part->end());
    if (const auto* i = std::get_if<ir::Ints>(&d)) ints.insert(ints.end(), i->begin(), i->end());
    else whole = false;
  }
  return whole ? TermValue(std::move(ints)) : TermValue(std::move(dims));
}

/// axis(?a, ?x): axes of ?x counted from its first one.
Answer axis(const Match& m, Arguments a) {
  const auto rank = m.rank(value_of(a[1]));
  if (!rank) return std::nullopt;
  const auto normal = [&](int64_t i) { return i >= -*rank && i < *rank ? std::optional(i < 0 ? i + *rank : i) : std::nullopt; };
  if (const auto i = as_integer(a[0])) return normal(*i) ? Answer(*normal(*i)) : std::nullopt;
  const auto* list = std::get_if<ir::Ints>(&a[0]);
  if (!list) return std::nullopt;
  ir::Ints out;
  for (int64_t i : *list) {
    if (!normal(i)) return std::nullopt;
    out.push_back(*normal(i));
  }
  return TermValue(std::move(out));
}

Answer compose(const Match&, Arguments a) {
  const auto *first = std::get_if<ir::Ints>(&a[0]), *second = std::get_if<ir::Ints>(&a[1]);
  if (!first || !second || first->size() != second->size()) return std::nullopt;
  ir::Ints out;
  for (int64_t i : *second) {
    if (i < 0 || i >= std::ssize(*first)) return std::nullopt;
    out.push_back((*first)[static_cast<size_t>(i)]);
  }
  return TermValue(std::move(out));
}

Answer inverse(const Match&, Arguments a) {
  const auto* perm = std::get_if<ir::Ints>(&a[0]);
  if (!perm) return std::nullopt;
  ir::Ints out(perm->size());
  for (size_t i = 0; i < perm->size(); ++i) {
    if ((*perm)[i] < 0 || (*perm)[i] >= std::ssize(*perm)) return std::nullopt;
    out[static_cast<size_t>((*perm)[i])] = static_cast<int64_t>(i);
  }
  return TermValue(std::move(out));
}

Answer number_of(const Match& m, Arguments a) {
  return of_value(a, [&](ValueId v) -> Answer {
    const auto number = m.number(v);
    if (!number) return std::nullopt;
    return is_integer(m.dtype(v)) && std::abs(*number) < 0x1p53 ? TermValue(static_cast<int64_t>(*number)) : TermValue(*number);
  });
}

Answer swaps_last(const Match&, Arguments a) {
  const auto* perm = std::get_if<ir::Ints>(&a[0]);
  if (!perm) return std::nullopt;
  const auto rank = static_cast<int64_t>(perm->size());
  bool holds = rank >= 2 && (*perm)[rank - 1] == rank - 2 && (*perm)[rank - 2] == rank - 1;
  for (int64_t k = 0; holds && k + 2 < rank; ++k) holds = (*perm)[k] == k;
  return bool_value(holds);
}

template <Arithmetic op>
Answer arithmetic(const Match& m, Arguments a) {
  return calculate(op, a[0], a[1], m);
}
template <double (*function)(double)>
Answer elementwise(const Match& m, Arguments a) {
  return calculate(function, a[0], m);
}
double reciprocal(double x) { return 1 / x; }
double square_root(double x) { return std::sqrt(x); }
double exponential(double x) { return std::exp(x); }
double logarithm(double x) { return std::log(x); }
double opposite(double x) { return -x; }

#define EACH(EXPRESSION) \
  [](const Match& m, Arguments a) { return of_each(a, [&]([[maybe_unused]] ValueId v) -> std::optional<bool> { return EXPRESSION; }); }
#define TWO(EXPRESSION) \
  [](const Match& m, Arguments a) { return of_two(a, [&](ValueId x, ValueId y) -> std::optional<bool> { return EXPRESSION; }); }

constexpr Function kFunctions[] = {
    {"float", "float(?x)", "its element type is a float", 1, 1, EACH(is_float(m.dtype(v)))},
    {"integer", "integer(?x)", "its element type is an integer (bool is none)", 1, 1, EACH(is_integer(m.dtype(v)))},
    {"bool", "bool(?x)", "its element type is bool", 1, 1, EACH(m.dtype(v) == DType::boolean)},
    {"constant", "constant(?x)", "it is a constant", 1, 1, EACH(m.is_constant(v))},
    {"scalar", "scalar(?x)", "it has one element", 1, 1, EACH(m.shape(v) ? product(*m.shape(v)).equals(1) : std::nullopt)},
    {"splat", "splat(?x)", "it is a constant whose elements are all the same number", 1, 1, EACH(m.number(v).has_value())},
    {"finite", "finite(?x)", "it is a splat, and its number is finite", 1, 1, EACH(m.number(v) && std::isfinite(*m.number(v)))},
    {"known_shape", "known_shape(?x)", "every size of its shape is a number", 1, 1, EACH(all_known(m.shape(v)))},
    {"present", "present(?x)", "the optional operand is there", 1, 1,
     [](const Match&, Arguments a) -> Answer { return bool_value(bool(value_of(a[0]))); }},
    {"same", "same(?x, ?y)", "they are the same value", 2, 2, TWO((static_cast<void>(m), x == y))},
    {"same_shape", "same_shape(?x, ?y)", "their shapes are equal for all sizes", 2, 2, TWO(same_dims(m.shape(x), m.shape(y)))},
    {"same_dtype", "same_dtype(?x, ?y)", "their element types are equal", 2, 2, TWO(m.dtype(x) == m.dtype(y))},
    {"same_type", "same_type(?x, ?y)", "both", 2, 2, TWO(both(m.dtype(x) == m.dtype(y), same_dims(m.shape(x), m.shape(y))))},
    {"broadcasts", "broadcasts(?b, ?x)", "an element-wise op on both has the shape of ?x", 2, 2, TWO(broadcasts(m, x, y))},
    {"suffix", "suffix(?b, ?x)", "?b has one axis, as long as the last one of ?x", 2, 2, TWO(suffix(m, x, y))},
    {"last_axis", "last_axis(?axes, ?x)", "the constant ?axes names the last axis of ?x and no other", 2, 2, TWO(last_axis(m, x, y))},
    {"swaps_last", "swaps_last(p)", "the permutation exchanges the last two axes and leaves the others", 1, 1, swaps_last},
    {"rank", "rank(?x)", "how many axes", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return m.rank(v) ? Answer(int64_t{*m.rank(v)}) : std::nullopt; });
     }},
    {"shape", "shape(?x)", "its sizes, as a list", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return m.shape(v) ? Answer(*m.shape(v)) : std::nullopt; });
     }},
    {"dim", "dim(?x, axis)", "one size of a value or of a list; axes from the end are negative", 2, 2, dim},
    {"size", "size(?x)", "how many elements", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return m.shape(v) ? Answer(term_value_of(product(*m.shape(v)))) : std::nullopt; });
     }},
    {"dtype", "dtype(?x)", "its element type", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return m.dtype(v) == DType::none ? std::nullopt : Answer(m.dtype(v)); });
     }},
    {"uses", "uses(?x)", "how many operands, graph outputs and captures use it", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return TermValue(static_cast<int64_t>(m.use_count(v))); });
     }},
    {"value", "value(?c)", "the number that all elements of a constant have", 1, 1, number_of},
    {"ints", "ints(?c)", "the elements of a small integer constant", 1, 1,
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer {
         auto found = m.ints(v);
         return found ? Answer(std::move(*found)) : std::nullopt;
       });
     }},
    {"axis", "axis(a, ?x)", "an axis of ?x (or a list of axes), counted from the first", 2, 2, axis},
    {"length", "length(list)", "how many elements a list has, or operands a ?rest", 1, 1, length},
    {"at", "at(list, i)", "element i of a list; from the end where negative", 2, 2, at},
    {"product", "product(list)", "of its elements", 1, 1, product_of},
    {"join", "join(list, list, ...)", "lists one after the other", 1, 8, join},
    {"compose", "compose(p, q)", "the permutation that p and then q make", 2, 2, compose},
    {"inverse", "inverse(p)", "the permutation that undoes p", 1, 1, inverse},
    {"add", "add(a, b)", "a + b", 2, 2, arithmetic<Arithmetic::add>},
    {"subtract", "subtract(a, b)", "a - b", 2, 2, arithmetic<Arithmetic::subtract>},
    {"multiply", "multiply(a, b)", "a * b", 2, 2, arithmetic<Arithmetic::multiply>},
    {"divide", "divide(a, b)", "a / b; no answer where integers or sizes leave a remainder", 2, 2, arithmetic<Arithmetic::divide>},
    {"floor_divide", "floor_divide(a, b)", "a / b, rounded down", 2, 2, arithmetic<Arithmetic::floor_divide>},
    {"modulo", "modulo(a, b)", "what floor_divide leaves", 2, 2, arithmetic<Arithmetic::modulo>},
    {"power", "power(a, b)", "a to the power of b", 2, 2, arithmetic<Arithmetic::power>},
    {"minimum", "minimum(a, b)", "the smaller one", 2, 2, arithmetic<Arithmetic::minimum>},
    {"maximum", "maximum(a, b)", "the larger one", 2, 2, arithmetic<Arithmetic::maximum>},
    {"negate", "negate(a)", "-a, of floats", 1, 1, elementwise<opposite>},
    {"reciprocal", "reciprocal(a)", "1 / a, of floats", 1, 1, elementwise<reciprocal>},
    {"sqrt", "sqrt(a)", "the square root, of floats", 1, 1, elementwise<square_root>},
    {"exp", "exp(a)", "e to the power of a, of floats", 1, 1, elementwise<exponential>},
    {"log", "log(a)", "the natural logarithm, of floats", 1, 1, elementwise<logarithm>},
};

#undef EACH
#undef TWO

}  // namespace

std::span<const Function> functions() { return kFunctions; }

const Function* find_function(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace tenon::rewrite
