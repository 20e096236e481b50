// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/compare/value_search.h"
#include "partition/partition.h"

namespace tenon::cli {

/// The results of a segment compared with those of the reference on the same operands.
struct SegmentCheck {
  uint32_t segment = 0;
  std::optional<ValueDistance> furthest;  ///< the result with the largest ratio of difference to tolerance; none: no results, or an error
  std::optional<Error> error;             ///< why it gave no results, or results of other types than the model declares
  bool bad() const { return error || (furthest && furthest->bad()); }
};

/// Runs each segment of a compiled graph (compiler::Compiled) by itself, on its backend. Its operands are values of the reference, with
/// each node's result rounded to its dtype, so that errors of earlier segments have no effect. options: those that the graph was compiled
/// with. `devices`: in addition to those of the registry. Errors: those of the evaluator. Cost: two evaluations, and building each segment
/// anew.
Result<std::vector<SegmentCheck>> check_segments(const ir::Graph& graph, const partition::Partition& partition,
                                                 std::span<const Tensor> inputs, const compiler::CompileOptions& options,
                                                 const runtime::RunOptions& run, const runtime::Devices& devices = {});

}  // namespace tenon::cli
