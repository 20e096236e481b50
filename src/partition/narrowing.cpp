// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "partition/constraints.h"

namespace tenon::partition {

namespace {

/// Whether both are floats, or integers that agree in having a sign.
bool are_of_one_kind(DType a, DType b) {
  if (is_integer(a) && is_integer(b)) return is_signed(a) == is_signed(b);
  return is_arithmetic_float(a) && is_arithmetic_float(b);
}

Result<void> check(const Narrowing& n) {
  const std::string place = fmt::format("narrow {}={}", name_of(n.from), name_of(n.to));
  if (!are_of_one_kind(n.from, n.to))
    return fail(Code::bad_usage, place, "neither type contains the other")
        .expected("two floats, or two integers of which both or none have a sign: f64=f32, i64=i32")
        .found(fmt::format("{} and {}", name_of(n.from), name_of(n.to)));
  if (!is_lossless_cast(n.from, n.to)) return {};
  return fail(Code::bad_usage, place, "this narrows nothing")
      .expected("a type that does not keep all values of the other: f64=f32, i64=i32")
      .found(fmt::format("{} keeps all of {}", name_of(n.to), name_of(n.from)))
      .advice("leave it out: what loses nothing needs no permission");
}

}  // namespace

Result<void> check_narrowing(const Constraints& constraints, const Roles& roles) {
  for (size_t k = 0; k < constraints.narrow.size(); ++k) {
    const Narrowing& n = constraints.narrow[k];
    TRY(check(n));
    for (size_t other = 0; other < k; ++other)
      if (constraints.narrow[other].from == n.from)
        return fail(Code::bad_usage, "narrow", fmt::format("{} is to become two types", name_of(n.from)))
            .expected("one type for each")
            .found(fmt::format("{} and {}", name_of(constraints.narrow[other].to), name_of(n.to)));
  }
  if (!constraints.narrow.empty() && roles.fallback() == 0)
    return fail(Code::bad_usage, "narrow", "no backend is accelerated that might lack a type")
        .expected("two backends or more")
        .found(std::string(roles.backends[0]->name()))
        .advice("name the backend that lacks the type before another, or leave narrow out");
  return {};
}

}  // namespace tenon::partition
