// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cli/compare/value_search.h"
#include "partition/partition.h"

namespace tenon::cli {

/// The results of a segment compared with those of the reference on the same operands.
struct SegmentCheck {
  uint32_t segment = 0;
  std::optional<ValueDistance> furthest;  ///< of its results, the one furthest beyond its bound; none: it has no results, or an error
  std::optional<Error> error;             ///< why it gave no results, or not those that the model promises
  bool bad() const { return error || (furthest && furthest->bad()); }
};

/// Runs each segment of a compiled graph (compiler::Compiled) by itself, on its backend. What it reads comes from the reference, which
/// rounds each node's result to its dtype: a segment is not blamed for those before it. options: those that the graph was compiled with.
/// `devices`: in addition to those of the registry. Errors: those of the evaluator. Cost: two evaluations, and building each segment anew.
Result<std::vector<SegmentCheck>> check_segments(const ir::Graph& graph, const partition::Partition& partition,
                                                 std::span<const Tensor> inputs, const compiler::CompileOptions& options,
                                                 const runtime::RunOptions& run, const runtime::Devices& devices = {});

}  // namespace tenon::cli
