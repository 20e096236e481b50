// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "cli/compare/segment_check.h"

namespace tenon::cli {

class Console;

/// Reports all segments: a table, and the rows of `compare --by-segment --json`.
nlohmann::ordered_json report_segments(const ir::Graph& graph, const partition::Partition& partition, std::span<const SegmentCheck> checks,
                                       Console& console);
/// The error of the first wrong segment; none: all are right.
Result<void> verdict_of_segments(const ir::Graph& graph, const partition::Partition& partition, std::span<const SegmentCheck> checks);

}  // namespace tenon::cli
