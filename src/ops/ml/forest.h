// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/core/names.h"
#include "ops/ml/features.h"

namespace tenon::ops {

enum class Branch : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };

/// Decision trees. A node tests one feature and leads to one of two others; a leaf gives weights to targets.
struct Forest {
  struct Node {
    Branch mode = Branch::leaf;
    int64_t feature = 0;
    double value = 0;
    bool missing_is_true = false;  ///< where a feature that is not a number leads
    int64_t yes = 0, no = 0;
    std::vector<double> members;
    size_t first_weight = 0, weights = 0;
  };
  struct Weight {
    int64_t target = 0;
    double value = 0;
  };
  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<Weight> weights;

  /// Errors: index_out_of_range where a node compares a feature that samples of so many lack.
  Result<void> check_features(const NodeView& view, int64_t features) const;
  /// The leaf that a sample comes to, which has the features. Errors: bad_attribute where nodes form a circle.
  Result<const Node*> leaf(const NodeView& view, int64_t root, std::span<const double> sample) const;
};

/// Attributes of their nodes and of what is done with the scores.
inline constexpr Names kForestAttributes = {
    {"nodes_falsenodeids: ints", "nodes_featureids: ints", "nodes_hitrates: floats", "nodes_hitrates_as_tensor: tensor",
     "nodes_missing_value_tracks_true: ints", "nodes_modes: strings", "nodes_nodeids: ints", "nodes_treeids: ints",
     "nodes_truenodeids: ints", "nodes_values: floats", "nodes_values_as_tensor: tensor", "post_transform: string = NONE"}};

/// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor; `weights`: prefix of the weights' attributes, "class" or "target".
/// Errors: bad_attribute where lists differ in length or name nodes that do not exist.
Result<Forest> forest_of(const NodeView& view, std::string_view weights);
/// Attribute `name`, or the tensor `name`_as_tensor of the newer versions, as doubles.
std::vector<double> floats_of(const NodeView& view, std::string_view name);

enum class Aggregate : uint8_t { average, sum, least, most };
/// The weights of a sample's leaves put together, one number a target; `seen` says which targets a leaf named.
struct Votes {
  std::vector<double> scores;
  std::vector<bool> seen;
};
Result<Votes> votes_of(const NodeView& view, const Forest& forest, std::span<const double> sample, int64_t targets, Aggregate how);

}  // namespace tenon::ops
