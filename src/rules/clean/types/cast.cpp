// SPDX-License-Identifier: Apache-2.0
// Casts upon casts: the first one may go where it keeps every value, or every bit that the second one keeps.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_cast {
using namespace rewrite;
namespace {

bool lossless_inside(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0), "Cast");
  if (!inner) return false;
  const ValueId source = m.operand(inner, 0);
  if (!is_lossless_cast(m.dtype(source), m.dtype(m.result(inner)))) return m.refuse("the inner cast loses values");
  return m.accept(source);
}

/// Casts between integers keep the low bits (or repeat the sign above them): the low bits of low bits are those of the first value.
bool low_bits(Match& m) {
  const ValueId source = operand_of_cast(m, m.operand(m.root(), 0));
  if (!source) return false;
  const DType from = m.dtype(source), middle = m.dtype(m.operand(m.root(), 0)), to = m.dtype(m.result(m.root()));
  if (!is_integer(from) || !is_integer(middle) || !is_integer(to)) return m.refuse("not between integers");
  if (bits_of(to) > bits_of(middle)) return m.refuse("the inner cast loses bits that the outer one keeps");
  return m.accept(source);
}

bool one_cast(const Match& m, Rewriter& w) { return replace_root(m, w, w.clone_with_operands(m.root(), {m.state<ValueId>()})[0]); }

}  // namespace

RULES(clean_cast) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "cast_chain",
             .docs = "Cast(Cast(x)) is one Cast where the inner one keeps every value",
             .roots = "Cast",
             .match = lossless_inside,
             .rewrite = one_cast,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "CastCast"},
            {.name = "cast_low_bits",
             .docs = "Cast(Cast(x)) between integers is one Cast where the outer one has no more bits than the inner one keeps",
             .roots = "Cast",
             .match = low_bits,
             .rewrite = one_cast,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "CastCast"},
        },
};

}  // namespace tenon::rules::clean_cast
