// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "partition/partition.h"

namespace tenon::cli {

/// Who runs what, as the answer of `tenon partition --json`: segments, nodes, borders, lower_bound, proved, accelerated_share. Times are
/// guesses of the backends, in microseconds; bytes and shapes at the largest sizes, null where these have no bound.
nlohmann::ordered_json share_data(const ir::Graph& graph, const partition::Shares& shares, const partition::Roles& roles);

/// "[batch, seq]; seq in 14..512".
std::string shape_text(const ir::Type& type);

/// Of a value, at the largest sizes; none where these have no bound.
std::optional<int64_t> most_bytes(const ir::Type& type);

}  // namespace tenon::cli
