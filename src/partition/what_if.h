// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// What it would change if the first accelerated backend ran every node of an op.
struct WhatIf {
  std::string op;  ///< "Op" or "domain::Op"
  int64_t borders_removed = 0;
  size_t segments = 0;  ///< left
};

/// For each op that is not accelerated though it works, what the user forced included; those that remove most borders first. None where no
/// backend is accelerated. Cost: a cut an op.
Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Shares& shares, const Roles& roles, const Wishes& wishes);

}  // namespace tenon::partition
