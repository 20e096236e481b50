// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// The effect on the partition if the first accelerated backend supported an op.
struct WhatIf {
  std::string op;  ///< "Op" or "domain::Op"
  int64_t borders_removed = 0;
  size_t segments = 0;  ///< of the new partition
  /// Ops that keep some of its nodes where they are: they are in one atomic group (atomic_groups.h), and the backend does not run them,
  /// or the user assigned them to other backends.
  std::vector<std::string> blocked_by;
};

/// One entry for each op that does work and is not accelerated, also where a constraint prevents it; those that remove most borders first.
/// Empty where no backend is accelerated. Cost: a cut per op; linear more for ops whose nodes are in atomic groups.
Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints);

}  // namespace tenon::partition
