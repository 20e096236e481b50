// SPDX-License-Identifier: Apache-2.0
// Two operands cast alike from one dtype, and an op that may as well work on what they were. An op that only compares or chooses does the
// same where the Cast keeps every value (it keeps their order too); arithmetic rounds in another place.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_cast_pairs {
using namespace rewrite;
namespace {

/// Whether operands `first` and `first` + 1 are results of Casts from one dtype; adds these to the match.
bool cast_alike(Match& m, size_t first) {
  if (m.node(m.root()).explicit_inputs != first + 2) return false;
  const NodeId a = m.take(m.operand(m.root(), first), "Cast");
  const NodeId b = a ? m.producer(m.operand(m.root(), first + 1), "Cast") : NodeId{};
  if (!b) return false;
  if (a != b) m.take(b);
  if (m.dtype(m.operand(a, 0)) != m.dtype(m.operand(b, 0))) return m.refuse("cast from different dtypes");
  return true;
}
DType from(const Match& m) { return m.dtype(m.operand(m.nodes[1], 0)); }
DType to(const Match& m) { return m.dtype(m.result(m.nodes[1])); }

bool keeps_order(Match& m) {
  if (!cast_alike(m, 0)) return false;
  if (!is_lossless_cast(from(m), to(m)) || from(m) == DType::boolean) return m.refuse("the casts lose values, or come from bool");
  return true;
}
bool branches(Match& m) { return cast_alike(m, 1); }

bool floats(Match& m) { return cast_alike(m, 0) && is_arithmetic_float(from(m)) && is_arithmetic_float(to(m)) && from(m) != to(m); }
bool from_wider(Match& m) { return floats(m) && (is_lossless_cast(to(m), from(m)) || m.refuse("not cast from a wider dtype")); }
bool from_narrower(Match& m) { return floats(m) && (!is_lossless_cast(to(m), from(m)) || m.refuse("cast from a wider dtype")); }

/// The op on what was cast, without a Cast after it where the result has a dtype of its own (bool).
bool without_casts(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs{m.node(m.root()).inputs.begin(), m.node(m.root()).inputs.end()};
  for (ValueId& input : inputs)
    if (const NodeId cast = m.producer(input, "Cast"); cast == m.nodes[1] || (m.nodes.size() > 2 && cast == m.nodes[2]))
      input = m.operand(cast, 0);
  const ValueId made = w.clone_with_operands(m.root(), inputs)[0];
  const DType wanted = m.dtype(m.result(m.root()));
  if (!made) return false;
  return replace_root(m, w, m.dtype(made) == wanted ? made : w.clone_with_operands(m.nodes[1], {made})[0]);
}

}  // namespace

RULES(clean_cast_pairs) {
    .sets = "default",
    .rules =
        {
            {.name = "cast_compare",
             .docs = "a comparison of two values that were cast alike, keeping every value, compares what they were",
             .roots = "Equal Less LessOrEqual Greater GreaterOrEqual",
             .match = keeps_order,
             .rewrite = without_casts,
             .benefit = 3},
            {.name = "cast_choose",
             .docs = "the larger or smaller of two values that were cast alike, keeping every value, is cast afterwards",
             .roots = "Max Min",
             .match = keeps_order,
             .rewrite = without_casts,
             .benefit = 3,
             .covered_patterns = "CastCastBinary"},
            {.name = "cast_where",
             .docs = "a choice between two values that were cast alike is cast afterwards",
             .roots = "Where",
             .match = branches,
             .rewrite = without_casts,
             .benefit = 3},
            {.name = "cast_binary_wide",
             .docs = "arithmetic on two values that were cast from a wider float dtype works there, and its result is cast",
             .roots = "Add Sub Mul Div",
             .match = from_wider,
             .rewrite = without_casts,
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .covered_patterns = "CastCastBinary"},
            {.name = "cast_binary_narrow",
             .docs = "the same from a narrower dtype: less precise than what was requested",
             .roots = "Add Sub Mul Div",
             .match = from_narrower,
             .rewrite = without_casts,
             .numerics = Numerics::approximate,
             .benefit = 2,
             .covered_patterns = "CastCastBinary"},
        },
};

}  // namespace tenon::rules::clean_cast_pairs
