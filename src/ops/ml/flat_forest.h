// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "ops/ml/forest.h"

namespace tenon::ops {

/// Decision trees in a layout for fast evaluation: checked once, compared in the dtype of the features, a block of samples at a time.
class FlatForest {
 public:
  /// Receives the scores of one sample, one a target, before base values and transforms; may change them.
  using Finish = std::function<void(int64_t sample, std::span<double> scores)>;

  /// Errors: bad_attribute where the nodes of a tree form a circle; index_out_of_range where a weight's target does not exist.
  static Result<FlatForest> make(const NodeView& view, const Forest& forest, int64_t targets, Aggregate how);

  /// x: [samples, features], or one sample. Calls `finish` for each sample in order; scores are summed in f64, tree by tree.
  /// Errors: index_out_of_range where a node compares a feature that x lacks.
  /// Cost: one comparison a level, tree and sample.
  Result<void> run(const Tensor& x, const Finish& finish) const;

 private:
  template <class T>
  struct Node {
    T value = 0;
    int32_t feature = -1;  ///< below 0: a leaf, whose weights are those from next[0] to next[1]
    int32_t next[2] = {};  ///< the child where the test is false, and where it is true
    Branch mode = Branch::leaf;
    bool missing_is_true = false;
    uint32_t members = 0, members_end = 0;  ///< Branch::member: in members_
  };
  /// The position of one sample in one tree.
  template <class T>
  struct Walk {
    const Node<T>* at = nullptr;
    const T* sample = nullptr;
    int64_t number = 0;  ///< of the sample in its block
  };
  struct Weight {
    int32_t target = 0;
    double value = 0;
  };

  template <class T>
  static std::vector<Node<T>> nodes_of(const Forest& forest);
  template <class T, bool only_leq>
  bool is_true(const Node<T>& node, T x) const;
  /// Moves each walk to its leaf.
  template <class T, bool only_leq>
  void walk(const std::vector<Node<T>>& nodes, std::span<Walk<T>> walks) const;
  template <class T>
  void run_blocks(const std::vector<Node<T>>& nodes, const T* x, int64_t samples, int64_t features, const Finish& finish) const;
  template <class T, bool only_leq>
  void add_block(const std::vector<Node<T>>& nodes, const T* x, int64_t samples, int64_t features, double* scores, uint8_t* seen) const;
  void add(const Weight& w, double* scores, uint8_t* seen) const;

  std::vector<Node<float>> narrow_;  ///< where the features are f32 and every number of the trees is one, else
  std::vector<Node<double>> wide_;
  std::vector<double> members_;
  std::vector<int32_t> roots_;
  std::vector<Weight> weights_;
  int64_t targets_ = 1, least_features_ = 0;
  Aggregate how_ = Aggregate::sum;
  bool only_leq_ = false;
};

}  // namespace tenon::ops
