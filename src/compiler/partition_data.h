// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "import/onnx_types.h"
#include "partition/what_if.h"

namespace tenon::compiler {

/// The answer of `tenon partition --json`: placement_data, and peak_bytes, handed_back and what_if, plugin_times; with assignment by
/// cost `costs`, a row a backend (costs_data). Bytes are planned for the default shapes (compiler::default_shapes). `built`: null where
/// nothing was built, and peak_bytes and handed_back are left out.
nlohmann::ordered_json partition_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles,
                                      partition::Assign assign, const std::vector<partition::WhatIf>& what_if,
                                      std::span<const plugin::MeasuredNode> measured = {}, const Compiled* built = nullptr,
                                      const std::vector<import::RequestedShape>& shapes = {});

/// The partition as in the output of `tenon partition --json`: segments, nodes, borders, lower_bound, proved, accelerated_share;
/// with assignment by cost `predicted` (see Partition), in microseconds;
/// search_given_up_after (visits of nodes and edges) where the search for the fewest segments did not end. Times are estimates of the
/// backends, in microseconds; bytes and shapes at the largest sizes, null where these have no bound.
nlohmann::ordered_json placement_data(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles);

/// The overheads of a backend in nanoseconds, and whether they are guessed, calibrated or measured.
nlohmann::ordered_json costs_data(const backend::Overheads& costs);
/// The overheads as text: "2.10 us, a copy 1.00 us and 0.100 ns a byte (calibrated)".
std::string costs_text(const backend::Overheads& costs);

/// A shape with the bounds of its symbols: "[batch, seq]; seq in 14..512".
std::string shape_text(const ir::Type& type);

}  // namespace tenon::compiler
