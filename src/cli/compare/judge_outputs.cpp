// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/judge_outputs.h"

#include <algorithm>

#include "cli/compare/outlier.h"
#include "cli/console/console.h"

namespace tenon::cli {

namespace {

/// Adds to each result the differences that rounding and changed decisions cause.
Result<void> add_rounding(const ir::Graph& graph, const InputsOfSteps& inputs, const SteppedResults& references,
                          const ProductRounding& rounding, std::vector<OutputDistance>& out) {
  const auto judged = TRY(in_precision(graph, rounding));
  const auto own = TRY(run_reference_steps(*judged, inputs));
  ops::EvaluateOptions perturbed_options;
  perturbed_options.perturbs = true;
  const bool decides = rounds_to_bytes(*judged);
  const auto perturbed = decides ? TRY(run_reference_steps(*judged, inputs, perturbed_options)) : own;
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].rounded = distance(own[k].value, references[k].value);
    if (decides) out[k].decisions = distance(perturbed[k].value, references[k].value).largest;
  }
  return {};
}

}  // namespace

Result<std::vector<OutputDistance>> judge_outputs(const ir::Graph& graph, const InputsOfSteps& inputs, const SteppedResults& results,
                                                  const SteppedResults& others, const JudgeOptions& options, Console& console) {
  ops::EvaluateOptions wide;
  wide.mode = ops::Mode::wide;
  console.progress("reference");
  const auto references = TRY(run_reference_steps(graph, inputs, wide));
  std::vector<OutputDistance> out;
  for (size_t k = 0; k < references.size(); ++k) {
    const Tensor &t = results[k].value, &reference = references[k].value;
    OutputDistance& d = out.emplace_back(OutputDistance{.name = results[k].name,
                                                        .type = type_text(t),
                                                        .step = results[k].step,
                                                        .is_state = results[k].is_state,
                                                        .ours = distance(t, reference, bound_of(options.rounding)),
                                                        .rounds_operands = options.rounding.rounds()});
    if (options.has_outlier && is_float(t.dtype()) && t.shape() == reference.shape()) d.small_half = error_of_small_half(t, reference);
    if (k < others.size()) d.other = distance(others[k].value, reference);
  }
  if (std::ranges::all_of(out, [](const OutputDistance& d) { return d.ours.bound_ratio <= 1; })) return out;
  console.progress("reference in the precision that is judged");
  TRY(add_rounding(graph, inputs, references, options.rounding, out));
  return out;
}

}  // namespace tenon::cli
