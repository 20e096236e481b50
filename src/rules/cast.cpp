// SPDX-License-Identifier: Apache-2.0
// Casts upon casts: the first one may go where it keeps every value.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules {
using namespace rewrite;
namespace {

/// Every value of `from` is a value of `to`.
bool keeps_all(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::boolean) return is_integer(to) || is_real_arithmetic(to);
  if (is_integer(from) && is_integer(to)) {
    if (is_signed(from) && !is_signed(to)) return false;
    return bits_of(to) > bits_of(from);
  }
  if (is_integer(from) && is_real_arithmetic(to)) {
    const int exact = to == DType::f64 ? 53 : to == DType::f32 ? 24 : to == DType::f16 ? 11 : 8;
    return bits_of(from) <= exact;
  }
  if (!is_real_arithmetic(from) || !is_real_arithmetic(to)) return false;
  return to == DType::f64 || (to == DType::f32 && bits_of(from) == 16);
}

bool lossless_inside(Match& m) {
  const NodeId inner = m.made_by(m.operand(m.root(), 0), "Cast");
  if (!inner) return false;
  const ValueId source = m.operand(inner, 0);
  if (!keeps_all(m.dtype(source), m.dtype(m.result(inner)))) return m.refuse("the inner cast loses values");
  m.keep(source);
  return true;
}

bool one_cast(const Match& m, Rewriter& w) {
  w.replace(m.result(m.root()), w.again(m.root(), {m.kept<ValueId>()})[0]);
  return true;
}

}  // namespace

RULES(cast) {
    .stage = Stage::clean,
    .rules =
        {
            {.name = "cast_chain",
             .docs = "Cast(Cast(x)) is one Cast where the inner one keeps every value",
             .roots = "Cast",
             .match = lossless_inside,
             .rewrite = one_cast,
             .benefit = 5,
             .shared = true},
        },
};

}  // namespace tenon::rules
