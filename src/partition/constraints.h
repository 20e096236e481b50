// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"

namespace tenon::partition {

/// How a graph is cut into segments after its nodes have backends: into the fewest segments, or by the algorithm of Torch-TensorRT.
enum class Segmenter : uint8_t { fewest, walk };

/// priority: each node goes to the first backend that supports it. cost: the total of the costs that backends estimate is least.
enum class Assign : uint8_t { priority, cost };

/// A node name, or the path of a module (ir::is_in_module), and the backend that must run it.
struct Pin {
  std::string name, backend;
};

/// The memory that an accelerated backend has: see enforce_memory_limits().
struct MemoryLimit {
  std::string backend;
  int64_t bytes = 0;
};

/// Permits nodes on values of type `from` to compute in `to`, which does not keep all values, where an accelerated backend lacks `from`.
struct Narrowing {
  DType from, to;
};

/// Constraints of the user on the partition.
struct Constraints {
  /// The number of backends that the user listed: the last of them is the fallback, those before it are accelerated. Backends after them
  /// run nodes that the fallback does not support. 0: all are listed.
  size_t listed = 0;
  std::vector<std::string> fallback_ops;      ///< "Op" or "domain::Op"
  std::vector<std::string> fallback_modules;  ///< "/a/b" or "a.b"
  std::vector<Pin> pins;
  std::vector<Pin> preferred;  ///< an op, "Op" or "domain::Op", and the backend, listed or not, that must run all its nodes
  std::vector<MemoryLimit> memory;
  std::vector<Narrowing> narrow;
  /// The least number of nodes that do work in an accelerated segment. 0: 1 with Assign::priority, and with Assign::cost as many as make
  /// the segment faster than the fallback.
  uint32_t min_block_size = 0;
  Assign assign = Assign::priority;
  bool require_full = false;  ///< a node that does work and is not accelerated is an error
  Segmenter segmenter = Segmenter::fewest;
};

/// A segment that its backend failed to compile: other backends run its nodes.
struct FailedSegment {
  std::vector<std::pair<ir::NodeId, size_t>> body_path =
      {};  ///< from the root: the nodes whose bodies contain it, and which of their bodies
  std::vector<ir::NodeId> nodes = {};
  uint32_t segment = 0;  ///< its index in the partition that was compiled
  std::string backend, error;
};

/// The roles of backends in a partition: accelerated, fallback, or used only for nodes that no listed backend supports.
struct Roles {
  const backend::Backends& backends;
  uint16_t listed;

  Roles(const backend::Backends& all, size_t first) : backends(all), listed(static_cast<uint16_t>(first > 0 ? first : all.size())) {}
  Roles(const backend::Backends& all, const Constraints& constraints) : Roles(all, constraints.listed) {}
  uint16_t count() const { return static_cast<uint16_t>(backends.size()); }
  uint16_t fallback() const { return static_cast<uint16_t>(listed - 1); }
  bool is_accelerated(uint16_t backend) const { return backend < fallback(); }
};

/// Stores the constraints at the nodes of a model (ir::Placement), in bodies too. This runs before any rule, and rules do not join nodes
/// with different constraints. A pin of a node overrides one of its module, and a longer module path before a shorter one. Errors:
/// bad_usage for ops, nodes, modules and backends that are not there, with the nearest name, and for constraints against each other; see
/// check_narrowing().
Result<void> attach_constraints(ir::Graph& graph, const Constraints& constraints, const Roles& roles);

/// Errors: bad_usage for what is no narrowing (floats to floats, integers to integers of the same sign, to fewer bits), for a type that is
/// to become two, and where no backend is accelerated.
Result<void> check_narrowing(const Constraints& constraints, const Roles& roles);

/// "Op" or "domain::Op".
std::string op_name(const ir::Op& op);

}  // namespace tenon::partition
