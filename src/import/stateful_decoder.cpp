// SPDX-License-Identifier: Apache-2.0
#include "import/stateful_decoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "import/joined_rows.h"
#include "ir/builder.h"
#include "ops/attention/group_query_attention.h"
#include "ops/definition/plain_ops.h"

namespace tenon::import {
namespace {

constexpr size_t kPastKey = 3;  // of GroupQueryAttention

/// One sequence without padding follows all rows of its cache: lengths say nothing more.
Result<void> append_to_caches(ir::Graph& graph) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (!node.is("com.microsoft", "GroupQueryAttention") || node.inputs.size() <= kPastKey || !node.inputs[kPastKey]) continue;
    const ir::NodeView view = graph.view(id);
    ir::Builder build(graph, id);
    const std::vector<ir::ValueId> operands(node.inputs.begin(), node.inputs.end()), results(node.outputs.begin(), node.outputs.end());
    const auto made = ops::append_to_cache(build, view, operands);
    TRY(build.status());
    if (made.empty())
      return fail(Code::not_supported, view.where(), "not supported yet: this attention over a cache of one sequence")
          .expected("causal=1, and operands of known width");
    for (size_t k = 0; k < results.size(); ++k)
      if (results[k]) graph.replace_all_uses(results[k], made[k]);
    graph.erase(id);
  }
  return {};
}

Result<uint32_t> slot_of_logits(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (uint32_t k = 0; k < graph.outputs().size(); ++k) {
    names.push_back(graph.output_name(k));
    if (names.back() == "logits") return k;
  }
  return fail(Code::bad_input, "output 'logits'", "the model has no logits")
      .expected("an output 'logits' [batch, sequence, vocabulary]")
      .found(fmt::format("outputs {}", fmt::join(names, ", ")))
      .advice(did_you_mean("logits", names, "export it as a language model (optimum: --task text-generation-with-past)"));
}

/// f32[1, vocabulary] of the last token.
Result<void> keep_last_logits(ir::Graph& graph, uint32_t slot) {
  const ir::Type type = graph.value(graph.outputs()[slot]).type;
  const bool fits = type.is_tensor() && type.has_rank() && type.rank() == 3 && type.dim(2).is_number() && is_float(type.dtype);
  if (!fits)
    return fail(Code::not_supported, "output 'logits'", "not supported yet: logits of this type")
        .expected("floats [1, new, vocabulary], the last a number")
        .found(type.text());
  ir::Builder build(graph);
  const ir::ValueId last = build("Gather", {graph.outputs()[slot], build.scalar(DType::i64, -1)}, {{"axis", int64_t{1}}});
  const ir::ValueId logits = ops::cast_to(build, last, DType::f32);
  TRY(build.status());
  graph.set_output(slot, logits);
  return {};
}

}  // namespace

Result<void> make_stateful(ir::Graph& graph, const DecoderPorts& ports) {
  TRY(append_to_caches(graph));
  std::vector<StatePair> pairs;
  for (const CachePair& cache : ports.caches) {
    TRY(check_rows(graph, cache));
    pairs.push_back(cache.names);
  }
  TRY(pair_states(graph, pairs));
  const uint32_t logits = TRY(slot_of_logits(graph));
  TRY(keep_last_logits(graph, logits));
  for (auto k = static_cast<uint32_t>(graph.outputs().size()); k-- > 0;)
    if (k != logits && !graph.state_of_output(k)) graph.erase_output(k);
  return {};
}

}  // namespace tenon::import
