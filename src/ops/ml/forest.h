// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/core/string_list.h"
#include "ops/ml/features.h"

namespace tenon::ops {

/// The test of a node: a comparison of a feature with the node's value, or membership in a set; `leaf`: none.
enum class Branch : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };

/// Decision trees. An inner node tests one feature and has two children; a leaf adds weights to targets.
struct Forest {
  struct Node {
    Branch mode = Branch::leaf;
    int64_t feature = 0;
    double value = 0;
    bool missing_is_true = false;             ///< the result of the test for a feature that is NaN
    int64_t true_child = 0, false_child = 0;  ///< numbers of the nodes for either result of the test
    std::vector<double> members;              ///< Branch::member: the set
    size_t first_weight = 0, weights = 0;     ///< leaf: the first of its weights in Forest::weights, and how many
  };
  struct Weight {
    int64_t target = 0;
    double value = 0;
  };
  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  std::vector<Weight> weights;

  /// Errors: index_out_of_range where a node tests a feature that samples with this number of features lack.
  Result<void> check_features(const NodeView& view, int64_t features) const;
  /// The leaf that a sample reaches from `root`; the sample has the features (check_features). Errors: bad_attribute where nodes form a
  /// circle.
  Result<const Node*> leaf(const NodeView& view, int64_t root, std::span<const double> sample) const;
};

/// Attributes of trees that TreeEnsembleClassifier and TreeEnsembleRegressor share.
inline constexpr StringList kForestAttributes = {
    {"nodes_falsenodeids: ints", "nodes_featureids: ints", "nodes_hitrates: floats", "nodes_hitrates_as_tensor: tensor",
     "nodes_missing_value_tracks_true: ints", "nodes_modes: strings", "nodes_nodeids: ints", "nodes_treeids: ints",
     "nodes_truenodeids: ints", "nodes_values: floats", "nodes_values_as_tensor: tensor", "post_transform: string = NONE"}};

/// The trees of TreeEnsembleClassifier and TreeEnsembleRegressor; `weights`: prefix of the weights' attributes, "class" or "target".
/// Errors: bad_attribute where lists differ in length or name nodes that do not exist.
Result<Forest> forest_of(const NodeView& view, std::string_view weights);
/// Attribute `name`, or the tensor `name`_as_tensor of the newer versions, as doubles.
std::vector<double> floats_of(const NodeView& view, std::string_view name);

enum class Aggregate : uint8_t { average, sum, least, most };
/// The aggregated weights of the leaves that a sample reaches, one number a target; `seen`: the targets for which a leaf has a weight.
struct LeafScores {
  std::vector<double> scores;
  std::vector<bool> seen;
};
Result<LeafScores> leaf_scores(const NodeView& view, const Forest& forest, std::span<const double> sample, int64_t targets, Aggregate how);

}  // namespace tenon::ops
