// SPDX-License-Identifier: Apache-2.0
// Two Clips are one. Clip(x, low, high) is min(max(x, low), high) also where low > high, and NaN stays NaN, so a Clip that only bounds
// below and then one that only bounds above are one by definition. Any two compose because Clip is monotone: its values over all x
// lie between those at the ends, which are the new bounds.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_clip {
using namespace rewrite;
namespace {

/// Bounds that are missing are infinite.
struct Bounds {
  ValueId low, high;
};

const Tensor* bound(const Match& m, ValueId value) {
  const Tensor* t = m.is_constant(value) ? m.graph().tensor_of(value) : nullptr;
  return t && t->count() == 1 && !(is_float(t->dtype()) && std::isnan(t->number(0))) ? t : nullptr;
}

bool is_less(const Match& m, ValueId a, ValueId b) {
  const Tensor &x = *bound(m, a), &y = *bound(m, b);
  if (is_float(x.dtype())) return x.number(0) < y.number(0);
  if (x.dtype() == DType::u64) return static_cast<uint64_t>(x.integer(0)) < static_cast<uint64_t>(y.integer(0));
  return x.integer(0) < y.integer(0);
}
ValueId larger(const Match& m, ValueId a, ValueId b) { return is_less(m, a, b) ? b : a; }
ValueId smaller(const Match& m, ValueId a, ValueId b) { return is_less(m, b, a) ? b : a; }

ValueId clipped(const Match& m, ValueId v, const Bounds& by) {
  if (by.low) v = larger(m, v, by.low);
  return by.high ? smaller(m, v, by.high) : v;
}

bool known_bounds(Match& m) {
  const NodeId inner = m.take(m.operand(m.root(), 0), "Clip");
  if (!inner) return false;
  const Bounds first{m.operand(inner, 1), m.operand(inner, 2)}, second{m.operand(m.root(), 1), m.operand(m.root(), 2)};
  for (ValueId v : {first.low, first.high, second.low, second.high})
    if (v && !bound(m, v)) return m.refuse("a bound is not known, or is NaN");
  const ValueId below = second.low && second.high ? smaller(m, second.low, second.high) : second.low;
  return m.accept(Bounds{first.low ? clipped(m, first.low, second) : below, first.high ? clipped(m, first.high, second) : second.high});
}

bool one_clip(const Match& m, Rewriter& w) {
  const Bounds& bounds = m.state<Bounds>();
  std::vector<ValueId> inputs{m.operand(m.nodes[1], 0)};
  if (bounds.low || bounds.high) inputs.push_back(bounds.low);
  if (bounds.high) inputs.push_back(bounds.high);
  return replace_root(m, w, inputs.size() == 1 ? inputs[0] : w("Clip", inputs));
}

}  // namespace

RULES(clean_clip) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "clip_low_high",
             .docs = "a Clip from below and then one from above are one Clip",
             .equation = "Clip(Clip(?x, ?low), _, ?high) => Clip(?x, ?low, ?high)",
             .benefit = 4,
             .covered_patterns = "ClipClip"},
            {.name = "clip_clip",
             .docs = "two Clips with known bounds are one",
             .roots = "Clip",
             .match = known_bounds,
             .rewrite = one_clip,
             .benefit = 5,
             .covered_patterns = "ClipClip"},
            {.name = "clip_relu",
             .docs = "Relu before a Clip that bounds below by something that is not negative changes nothing",
             .equation = "Clip(Relu(?x), ?low, ?high?) => Clip(?x, ?low, ?high) where value(?low) >= 0",
             .benefit = 4},
        },
};

}  // namespace tenon::rules::clean_clip
