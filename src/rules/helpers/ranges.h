// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The Range that `value` is, with axes of size 1 added, repeated or cast; none where it is something else.
ir::NodeId range_below(const rewrite::GraphQuery& query, ir::ValueId value);

/// How many numbers 0, 1, 2, ... run along `axis` of the value, whose other axes are all 1; nullopt where it is something else.
std::optional<Dim> counts_along(const rewrite::GraphQuery& query, ir::ValueId value, size_t axis);

}  // namespace tenon::rules
