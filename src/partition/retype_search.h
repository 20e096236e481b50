// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "partition/casts.h"
#include "partition/constraints.h"

namespace tenon::partition {

/// Finds element types in which a backend runs a node that it refuses. Answers are cached by op, operand types and
/// attributes.
class RetypeSearch {
 public:
  explicit RetypeSearch(const Constraints& constraints) : narrow_(constraints.narrow) {}
  /// The first types that the backend supports, fewest changes first; none where it runs the node unchanged, or in no types.
  Result<std::optional<Retype>> find(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend);

 private:
  std::vector<DType> alternatives(DType type) const;
  std::vector<Retype> candidates(const ir::NodeView& view) const;
  Result<std::optional<Retype>> search(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) const;
  Result<bool> runs(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend, Retype& way) const;

  std::vector<Narrowing> narrow_;
  std::unordered_map<std::string, std::optional<Retype>> found_;
};

}  // namespace tenon::partition
