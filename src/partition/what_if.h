// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// What it would change if the first accelerated backend ran every node of an op.
struct WhatIf {
  std::string op;  ///< "Op" or "domain::Op"
  int64_t borders_removed = 0;
  size_t segments = 0;  ///< left
  /// Ops without which some of its nodes stay where they are: they are kept with those (atomic_groups.h), which the backend does not run
  /// either, or which the user gave to others.
  std::vector<std::string> blocked_by;
};

/// For each op that is not accelerated though it works, what the user forced included; those that remove most borders first. None where no
/// backend is accelerated. Cost: a cut an op; linear more for ops whose
/// nodes are kept with others.
Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints);

}  // namespace tenon::partition
