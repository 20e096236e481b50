// SPDX-License-Identifier: Apache-2.0
#include "rewrite/functions.h"

#include <array>
#include <cmath>

namespace tenon::rewrite {
namespace {

using Arguments = std::span<const Argument>;
using Answer = std::optional<ir::Attribute>;

Answer yes(bool holds) { return ir::Attribute(int64_t{holds}); }
bool is_value(const Argument& a) { return a.kind == Argument::Kind::value && a.value; }

template <class F>
Answer of_value(Arguments a, F f) {
  return a.size() == 1 && is_value(a[0]) ? f(a[0].value) : std::nullopt;
}
template <class F>
Answer of_two(Arguments a, F f) {
  return a.size() == 2 && is_value(a[0]) && is_value(a[1]) ? f(a[0].value, a[1].value) : std::nullopt;
}
template <class F>
Answer of_numbers(Arguments a, F f) {
  if (a.size() != 2 || a[0].kind != Argument::Kind::attribute || a[1].kind != Argument::Kind::attribute) return std::nullopt;
  const auto x = as_number(*a[0].attribute), y = as_number(*a[1].attribute);
  if (!x || !y) return std::nullopt;
  const bool whole = std::holds_alternative<int64_t>(*a[0].attribute) && std::holds_alternative<int64_t>(*a[1].attribute);
  const double value = f(*x, *y);
  return whole ? ir::Attribute(static_cast<int64_t>(value)) : ir::Attribute(static_cast<float>(value));
}
std::optional<ir::Ints> list(const Argument& a) {
  if (a.kind != Argument::Kind::attribute || !std::holds_alternative<ir::Ints>(*a.attribute)) return std::nullopt;
  return std::get<ir::Ints>(*a.attribute);
}

Answer compose(const Match&, Arguments a) {
  if (a.size() != 2) return std::nullopt;
  const auto first = list(a[0]), second = list(a[1]);
  if (!first || !second || first->size() != second->size()) return std::nullopt;
  ir::Ints out;
  for (int64_t i : *second) {
    if (i < 0 || i >= static_cast<int64_t>(first->size())) return std::nullopt;
    out.push_back((*first)[i]);
  }
  return ir::Attribute(std::move(out));
}

Answer inverse(const Match&, Arguments a) {
  const auto perm = a.size() == 1 ? list(a[0]) : std::nullopt;
  if (!perm) return std::nullopt;
  ir::Ints out(perm->size());
  for (size_t i = 0; i < perm->size(); ++i) {
    if ((*perm)[i] < 0 || (*perm)[i] >= static_cast<int64_t>(perm->size())) return std::nullopt;
    out[(*perm)[i]] = static_cast<int64_t>(i);
  }
  return ir::Attribute(std::move(out));
}

/// last_axis(?axes, ?x): the constant names exactly the last axis of ?x.
Answer last_axis(const Match& m, Arguments a) {
  return of_two(a, [&](ValueId axes, ValueId x) -> Answer {
    const auto found = m.ints(axes);
    const auto rank = m.rank(x);
    return yes(found && found->size() == 1 && ((*found)[0] == -1 || (rank && (*found)[0] == *rank - 1)));
  });
}

/// suffix(?b, ?x): ?b broadcasts against the last axis of ?x alone, of which it has every element.
Answer suffix(const Match& m, Arguments a) {
  return of_two(a, [&](ValueId b, ValueId x) -> Answer {
    const DimList* small = m.shape(b);
    const DimList* large = m.shape(x);
    return yes(small && large && small->size() == 1 && !large->empty() && (*small)[0].known_equal(large->back()));
  });
}

Answer dim(const Match& m, Arguments a) {
  if (a.size() != 2 || !is_value(a[0]) || a[1].kind != Argument::Kind::attribute) return std::nullopt;
  const DimList* shape = m.shape(a[0].value);
  const auto axis = as_number(*a[1].attribute);
  if (!shape || !axis) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(shape->size());
  const int64_t at = static_cast<int64_t>(*axis) + (*axis < 0 ? rank : 0);
  if (at < 0 || at >= rank || !(*shape)[at].is_number()) return std::nullopt;
  return ir::Attribute((*shape)[at].value());
}

Answer size(const Match& m, Arguments a) {
  return of_value(a, [&](ValueId v) -> Answer {
    if (!m.shape(v)) return std::nullopt;
    const Dim count = product(*m.shape(v));
    return count.is_number() ? Answer(ir::Attribute(count.value())) : std::nullopt;
  });
}

Answer finite(const Match& m, Arguments a) {
  return of_value(a, [&](ValueId v) -> Answer {
    const auto number = m.number(v);
    return yes(number && std::isfinite(*number));
  });
}

Answer value(const Match& m, Arguments a) {
  return of_value(a, [&](ValueId v) -> Answer {
    const auto number = m.number(v);
    return number ? Answer(ir::Attribute(static_cast<float>(*number))) : std::nullopt;
  });
}

Answer ints(const Match& m, Arguments a) {
  return of_value(a, [&](ValueId v) -> Answer {
    auto found = m.ints(v);
    return found ? Answer(ir::Attribute(std::move(*found))) : std::nullopt;
  });
}

struct Entry {
  std::string_view name;
  Answer (*function)(const Match&, Arguments);
};

constexpr Entry kFunctions[] = {
    {"float", [](const Match& m, Arguments a) { return of_value(a, [&](ValueId v) { return yes(is_float(m.dtype(v))); }); }},
    {"integer", [](const Match& m, Arguments a) { return of_value(a, [&](ValueId v) { return yes(is_integer(m.dtype(v))); }); }},
    {"bool", [](const Match& m, Arguments a) { return of_value(a, [&](ValueId v) { return yes(m.dtype(v) == DType::boolean); }); }},
    {"constant", [](const Match& m, Arguments a) { return of_value(a, [&](ValueId v) { return yes(m.is_constant(v)); }); }},
    {"scalar", [](const Match& m,
                  Arguments a) { return of_value(a, [&](ValueId v) { return yes(m.shape(v) && product(*m.shape(v)).known_equal(1)); }); }},
    {"splat", [](const Match& m, Arguments a) { return of_value(a, [&](ValueId v) { return yes(m.number(v).has_value()); }); }},
    {"present", [](const Match&, Arguments a) { return yes(a.size() == 1 && is_value(a[0])); }},
    {"finite", finite},
    {"same_shape", [](const Match& m, Arguments a) { return of_two(a, [&](ValueId x, ValueId y) { return yes(m.same_shape(x, y)); }); }},
    {"same_type", [](const Match& m, Arguments a) { return of_two(a, [&](ValueId x, ValueId y) { return yes(m.same_type(x, y)); }); }},
    {"same_dtype",
     [](const Match& m, Arguments a) { return of_two(a, [&](ValueId x, ValueId y) { return yes(m.dtype(x) == m.dtype(y)); }); }},
    {"last_axis", last_axis},
    {"suffix", suffix},
    {"rank",
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return m.rank(v) ? Answer(ir::Attribute(int64_t{*m.rank(v)})) : std::nullopt; });
     }},
    {"uses",
     [](const Match& m, Arguments a) {
       return of_value(a, [&](ValueId v) -> Answer { return ir::Attribute(static_cast<int64_t>(m.use_count(v))); });
     }},
    {"size", size},
    {"dim", dim},
    {"value", value},
    {"ints", ints},
    {"compose", compose},
    {"inverse", inverse},
    {"add", [](const Match&, Arguments a) { return of_numbers(a, [](double x, double y) { return x + y; }); }},
    {"multiply", [](const Match&, Arguments a) { return of_numbers(a, [](double x, double y) { return x * y; }); }},
    {"divide", [](const Match&, Arguments a) { return of_numbers(a, [](double x, double y) { return x / y; }); }},
};

}  // namespace

std::optional<double> as_number(const ir::Attribute& attribute) {
  if (const auto* i = std::get_if<int64_t>(&attribute)) return static_cast<double>(*i);
  if (const auto* f = std::get_if<float>(&attribute)) return *f;
  return std::nullopt;
}

bool function_exists(std::string_view name) {
  for (const Entry& e : kFunctions)
    if (e.name == name) return true;
  return false;
}

std::optional<ir::Attribute> call(std::string_view name, const Match& match, std::span<const Argument> arguments) {
  for (const Entry& e : kFunctions)
    if (e.name == name) return e.function(match, arguments);
  return std::nullopt;
}

}  // namespace tenon::rewrite
