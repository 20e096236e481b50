// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// The effect of the first accelerated backend running every node of an op.
struct WhatIf {
  std::string op;  ///< "Op" or "domain::Op"
  int64_t borders_removed = 0;
  size_t segments = 0;  ///< left
  /// Ops that keep some of its nodes where they are: they are in one atomic group (atomic_groups.h), and the backend does not run them,
  /// or the user assigned them to other backends.
  std::vector<std::string> blocked_by;
};

/// For each op that is not accelerated though it works, what the user forced included; those that remove most borders first. None where no
/// backend is accelerated. Cost: a cut an op; linear more for ops whose
/// nodes are in atomic groups.
Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints);

}  // namespace tenon::partition
