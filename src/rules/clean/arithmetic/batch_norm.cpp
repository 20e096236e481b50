// SPDX-License-Identifier: Apache-2.0
// BatchNormalization that does nothing, and the one that takes its statistics from the batch, written out.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/channels.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_batch_norm {
using namespace rewrite;
namespace {

/// Half a unit in the last place of a number just above 1: a factor nearer to 1 rounds back to what it multiplies.
double unseen(DType dtype) { return dtype == DType::f16 ? 0x1p-12 : dtype == DType::bf16 ? 0x1p-9 : 0; }

bool neutral_parameters(Match& m) {
  const DimList* shape = m.shape(m.operand(m.root(), 1));
  if (!shape || shape->size() != 1 || !(*shape)[0].is_number()) return false;
  const auto map = batch_norm_map(m, m.root(), (*shape)[0].value());
  if (!map) return m.refuse("the statistics are not constant, or not finite");
  const double slack = unseen(m.dtype(m.operand(m.root(), 0)));
  const bool neutral = std::ranges::all_of(map->factor, [&](double f) { return std::abs(f - 1) <= slack; }) &&
                       std::ranges::all_of(map->bias, [](double b) { return b == 0; });
  if (!neutral) return m.refuse("a factor is not 1, or a summand not 0");
  return m.same_type(m.result(m.root()), m.operand(m.root(), 0));
}

bool trains(Match& m) {
  const Node& node = m.node(m.root());
  if (node.attributes.integer("training_mode", 0) == 0) return false;
  const auto rank = m.rank(m.operand(m.root(), 0));
  if (!rank || *rank < 2 || !is_arithmetic_float(m.dtype(m.operand(m.root(), 0)))) return m.refuse("the rank is not known, or below 2");
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] && m.use_count(node.outputs[i])) return m.refuse("the running statistics are used");
  return true;
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * scale + bias, in f32 at least.
bool written_out(const Match& m, Rewriter& w) {
  const ValueId source = m.operand(m.root(), 0);
  const DType dtype = m.dtype(source), wide = bits_of(dtype) < 32 ? DType::f32 : dtype;
  const auto widened = [&](ValueId v) { return m.dtype(v) == wide ? v : cast_to(w, v, wide); };
  ir::Ints row, column(static_cast<size_t>(*m.rank(source)), 1);
  for (int i = 0; i < *m.rank(source); ++i)
    if (i != 1) row.push_back(i);
  column[1] = -1;
  const auto parameter = [&](size_t k) { return w("Reshape", {widened(m.operand(m.root(), k)), w.ints(column)}); };
  const auto average = [&](ValueId v) { return w("ReduceMean", {v, w.ints(row)}); };
  const ValueId x = widened(source), centred = w("Sub", {x, average(x)});
  const double epsilon = m.node(m.root()).attributes.number("epsilon", 1e-5f);
  const ValueId root = w("Sqrt", {w("Add", {average(w("Mul", {centred, centred})), w.scalar(wide, epsilon)})});
  const ValueId y = w("Add", {w("Mul", {w("Div", {centred, root}), parameter(1)}), parameter(2)});
  return replace_root(m, w, dtype == wide ? y : cast_to(w, y, dtype));
}

}  // namespace

RULES(clean_batch_norm) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "batch_norm_neutral",
             .docs =
                 "BatchNormalization by factors 1 and summands 0 is Identity (but for -0, which becomes 0); in f16 and bf16 also by factors that round to it",
             .roots = "BatchNormalization",
             .match = neutral_parameters,
             .rewrite = replace_root_with_first_operand,
             .numerics = Numerics::reassociating,
             .benefit = 10,
             .covered_patterns = "BatchNormalization Identity"},
            {.name = "batch_norm_training",
             .docs = "BatchNormalization by the statistics of the batch, where the running ones are not used, is plain arithmetic",
             .roots = "BatchNormalization",
             .match = trains,
             .rewrite = written_out,
             .numerics = Numerics::reassociating,
             .sets = "default",
             .covered_patterns = "BatchNormalizationTraining"},
        },
};

}  // namespace tenon::rules::clean_batch_norm
