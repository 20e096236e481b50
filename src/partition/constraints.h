// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"

namespace tenon::partition {

/// How a graph is cut once it is settled who runs each node: into the fewest segments, or by the walk of Torch-TensorRT.
enum class Segmenter : uint8_t { fewest, walk };

/// Each node goes to the first backend that supports it, or to where all together cost least by what backends guess.
enum class Assign : uint8_t { priority, cost };

/// A node, or else a module (ir::is_in_module), and the backend that is to run it.
struct Pin {
  std::string name, backend;
};

/// What an accelerated backend may hold: see keep_memory().
struct MemoryLimit {
  std::string backend;
  int64_t bytes = 0;
};

/// Nodes on values of type `from` may work on them as `to`, which does not keep them all, where an accelerated backend lacks `from`.
struct Narrowing {
  DType from, to;
};

/// What the user says of who runs what.
struct Constraints {
  /// How many backends were listed, of which the last is the fallback and those before are accelerated; backends after take what even the
  /// fallback cannot run. 0: all were.
  size_t listed = 0;
  std::vector<std::string> fallback_ops;      ///< "Op" or "domain::Op"
  std::vector<std::string> fallback_modules;  ///< "/a/b" or "a.b"
  std::vector<Pin> pins;
  std::vector<Pin> preferred;  ///< ops, "Op" or "domain::Op", and the backend, listed or not, that is to run them all
  std::vector<MemoryLimit> memory;
  std::vector<Narrowing> narrow;
  /// Nodes that do work, of an accelerated segment. 0: 1 with assignment by priority, and as many as pay with that by cost.
  uint32_t min_block_size = 0;
  Assign assign = Assign::priority;
  bool require_full = false;  ///< all work is accelerated, or it is an error
  Segmenter segmenter = Segmenter::fewest;
};

/// Nodes of a segment that its backend supports, and that it failed to compile: others run them.
struct HandedBack {
  std::vector<std::pair<ir::NodeId, size_t>> inside = {};  ///< the nodes whose bodies lead to it, and which of their bodies
  std::vector<ir::NodeId> nodes = {};
  uint32_t segment = 0;  ///< of the shares as they were
  std::string backend, error;
};

/// The roles that backends have.
struct Roles {
  const backend::Backends& backends;
  uint16_t listed;

  Roles(const backend::Backends& all, size_t first) : backends(all), listed(static_cast<uint16_t>(first > 0 ? first : all.size())) {}
  Roles(const backend::Backends& all, const Constraints& constraints) : Roles(all, constraints.listed) {}
  uint16_t count() const { return static_cast<uint16_t>(backends.size()); }
  uint16_t fallback() const { return static_cast<uint16_t>(listed - 1); }
  bool is_accelerated(uint16_t backend) const { return backend < fallback(); }
};

/// Notes at the nodes of a model, in bodies too, what the user says of them, before any rule runs: rules join none that are to run in
/// different places. A pin of a node goes before one of its module, and a longer module path before a shorter one. Errors: bad_usage for
/// ops, nodes, modules and backends that are not there, with the nearest name, and for constraints against each other; see
/// check_narrowing().
Result<void> bind(ir::Graph& graph, const Constraints& constraints, const Roles& roles);

/// Errors: bad_usage for what is no narrowing (floats to floats, integers to integers of the same sign, to fewer bits), for a type that is
/// to become two, and where no backend is accelerated.
Result<void> check_narrowing(const Constraints& constraints, const Roles& roles);

/// "Op" or "domain::Op".
std::string op_name(const ir::Op& op);

}  // namespace tenon::partition
