// SPDX-License-Identifier: Apache-2.0
// Where(x > 0, x, a * x) is LeakyRelu. Exact for a >= 0: at 0 both sides give the zero that x is, and NaN goes through the product on
// either side. For a < 0 they differ in the sign of 0. The slope must be a number of fp32, as which LeakyRelu keeps it.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_leaky_relu {
using namespace rewrite;
namespace {

struct Leaky {
  ValueId x;
  double slope;
};

/// 1: the condition holds for positive x; -1: for negative x; 0: it is something else. `x` is what is compared with 0.
int tested_sign(Match& m, ValueId condition, ValueId& x) {
  for (std::string_view op : {"Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    const NodeId compare = m.take(condition, op);
    if (!compare) continue;
    const size_t zero = m.is_number(m.operand(compare, 1), 0) ? 1 : 0;
    if (!m.is_number(m.operand(compare, zero), 0)) return 0;
    x = m.operand(compare, 1 - zero);
    return op.starts_with("Greater") == (zero == 1) ? 1 : -1;
  }
  return 0;
}

bool leaky(Match& m) {
  Leaky found;
  const int sign = tested_sign(m, m.operand(m.root(), 0), found.x);
  if (sign == 0 || m.operand(m.root(), sign > 0 ? 1 : 2) != found.x || !m.same_type(found.x, m.result(m.root()))) return false;
  const NodeId product = is_arithmetic_float(m.dtype(found.x)) ? m.take(m.operand(m.root(), sign > 0 ? 2 : 1), "Mul") : NodeId{};
  for (size_t side : {0, 1}) {
    const auto slope = product && m.operand(product, 1 - side) == found.x ? m.number(m.operand(product, side)) : std::nullopt;
    if (!slope) continue;
    found.slope = *slope;
    if (!std::isfinite(*slope) || static_cast<double>(static_cast<float>(*slope)) != *slope) return m.refuse("the slope is no fp32");
    return m.accept(found);
  }
  return false;
}

bool rising(Match& m) { return leaky(m) && m.state<Leaky>().slope >= 0; }
bool falling(Match& m) { return leaky(m) && m.state<Leaky>().slope < 0; }

bool to_leaky_relu(const Match& m, Rewriter& w) {
  const Leaky& found = m.state<Leaky>();
  return replace_root(m, w, w("LeakyRelu", {found.x}, {{"alpha", static_cast<float>(found.slope)}}));
}

}  // namespace

RULES(fuse_leaky_relu) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "leaky_relu",
             .docs = "Where(x > 0, x, a*x), or with the comparison the other way round",
             .roots = "Where",
             .match = rising,
             .rewrite = to_leaky_relu,
             .benefit = 5,
             .covered_patterns = "LeakyRelu"},
            {.name = "leaky_relu_falling",
             .docs = "the same with a slope below 0, where 0 becomes 0 and not -0",
             .roots = "Where",
             .match = falling,
             .rewrite = to_leaky_relu,
             .numerics = Numerics::reassociating,
             .benefit = 5,
             .covered_patterns = "LeakyRelu"},
        },
};

}  // namespace tenon::rules::fuse_leaky_relu
