// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "rewrite/match.h"

namespace tenon::rules {

/// The Range that `value` is computed from by reshapes, Expands and Casts alone; none where it is computed in another way.
ir::NodeId range_of(const rewrite::GraphQuery& query, ir::ValueId value);

/// The length of the iota 0, 1, 2, ... along `axis` that `value` is, all other axes of size 1; nullopt for other values.
std::optional<Dim> iota_length(const rewrite::GraphQuery& query, ir::ValueId value, size_t axis);

}  // namespace tenon::rules
