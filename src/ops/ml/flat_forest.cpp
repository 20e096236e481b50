// SPDX-License-Identifier: Apache-2.0
#include "ops/ml/flat_forest.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/core/refuse.h"

namespace tenon::ops {

namespace {

/// Samples of a block: one tree is evaluated for all of them before the next, so that its nodes stay in the cache.
constexpr int64_t kBlock = 64;

/// Walks that advance alternately, so that the memory latency of one overlaps with the steps of the others.
constexpr int64_t kWalks = 8;

bool is_leaf(const Forest::Node& n) { return n.mode == Branch::leaf; }

/// Depth-first search with an explicit stack; a node that is on the path to itself closes a circle.
Result<void> check_circles(const NodeView& view, const Forest& forest) {
  enum class Mark : uint8_t { fresh, on_path, done };
  std::vector<Mark> marks(forest.nodes.size(), Mark::fresh);
  std::vector<int64_t> stack(forest.roots.begin(), forest.roots.end());
  while (!stack.empty()) {
    const auto at = static_cast<size_t>(stack.back());
    if (marks[at] != Mark::fresh || is_leaf(forest.nodes[at])) {
      marks[at] = Mark::done;
      stack.pop_back();
      continue;
    }
    marks[at] = Mark::on_path;
    for (int64_t next : {forest.nodes[at].true_child, forest.nodes[at].false_child}) {
      const Mark mark = marks[static_cast<size_t>(next)];
      if (mark == Mark::on_path) return refuse(view, Code::bad_attribute, "the nodes of a tree form a circle");
      if (mark == Mark::fresh) stack.push_back(next);
    }
  }
  return {};
}

bool fits_f32(double value) { return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value; }

bool fits_f32(const Forest& forest) {
  return std::ranges::all_of(forest.nodes, [](const Forest::Node& n) {
    return fits_f32(n.value) && std::ranges::all_of(n.members, [](double m) { return fits_f32(m); });
  });
}

}  // namespace

template <class T>
std::vector<FlatForest::Node<T>> FlatForest::nodes_of(const Forest& forest) {
  std::vector<Node<T>> out;
  uint32_t member = 0;
  for (const Forest::Node& n : forest.nodes) {
    Node<T> node{.value = static_cast<T>(n.value), .mode = n.mode, .missing_is_true = n.missing_is_true};
    node.members = member;
    node.members_end = member += static_cast<uint32_t>(n.members.size());
    if (is_leaf(n)) {
      node.next[0] = static_cast<int32_t>(n.first_weight);
      node.next[1] = static_cast<int32_t>(n.first_weight + n.weights);
    } else {
      node.feature = static_cast<int32_t>(n.feature);
      node.next[0] = static_cast<int32_t>(n.false_child);
      node.next[1] = static_cast<int32_t>(n.true_child);
    }
    out.push_back(node);
  }
  return out;
}

Result<FlatForest> FlatForest::make(const NodeView& view, const Forest& forest, int64_t targets, Aggregate how) {
  TRY(check_circles(view, forest));
  FlatForest flat;
  flat.targets_ = targets;
  flat.how_ = how;
  flat.only_leq_ = true;
  for (const Forest::Node& n : forest.nodes) {
    if (is_leaf(n)) continue;
    if (n.feature < 0 || n.feature > INT32_MAX - 1)
      return refuse(view, Code::index_out_of_range, "a node compares a feature that no sample has").found(std::to_string(n.feature));
    flat.least_features_ = std::max(flat.least_features_, n.feature + 1);
    flat.only_leq_ = flat.only_leq_ && n.mode == Branch::leq;
    flat.members_.insert(flat.members_.end(), n.members.begin(), n.members.end());
  }
  for (const Forest::Weight& w : forest.weights) {
    if (w.target < 0 || w.target >= targets)
      return refuse(view, Code::index_out_of_range, "a weight of a target that does not exist").found(std::to_string(w.target));
    flat.weights_.push_back({static_cast<int32_t>(w.target), w.value});
  }
  for (int64_t root : forest.roots) flat.roots_.push_back(static_cast<int32_t>(root));
  if (dtype_of(view, 0) == DType::f32 && fits_f32(forest)) flat.narrow_ = nodes_of<float>(forest);
  else flat.wide_ = nodes_of<double>(forest);
  return flat;
}

template <class T, bool only_leq>
bool FlatForest::is_true(const Node<T>& n, T x) const {
  if (x != x) return n.missing_is_true;
  if constexpr (only_leq) return x <= n.value;
  switch (n.mode) {
    case Branch::lt: return x < n.value;
    case Branch::gte: return x >= n.value;
    case Branch::gt: return x > n.value;
    case Branch::eq: return x == n.value;
    case Branch::neq: return x != n.value;
    case Branch::member: {
      const auto end = members_.begin() + n.members_end;
      return std::find(members_.begin() + n.members, end, static_cast<double>(x)) != end;
    }
    case Branch::leq:
    case Branch::leaf: break;
  }
  return x <= n.value;
}

template <class T, bool only_leq>
void FlatForest::walk(const std::vector<Node<T>>& nodes, std::span<Walk<T>> walks) const {
  for (bool moved = true; moved;) {
    moved = false;
    for (Walk<T>& w : walks) {
      if (w.at->feature < 0) continue;
      w.at = &nodes[static_cast<size_t>(w.at->next[is_true<T, only_leq>(*w.at, w.sample[w.at->feature])])];
      moved = true;
    }
  }
}

void FlatForest::add(const Weight& w, double* scores, uint8_t* seen) const {
  double& score = scores[w.target];
  if (how_ == Aggregate::sum || how_ == Aggregate::average) {
    score += w.value;
    return;
  }
  const bool first = !seen[w.target];
  score = first ? w.value : how_ == Aggregate::least ? std::min(score, w.value) : std::max(score, w.value);
  seen[w.target] = 1;
}

template <class T, bool only_leq>
void FlatForest::add_block(const std::vector<Node<T>>& nodes, const T* x, int64_t samples, int64_t features, double* scores,
                           uint8_t* seen) const {
  const auto trees = static_cast<int64_t>(roots_.size());
  // Walks are several samples in one tree, or several trees of one sample; either way the weights of a sample are added in the order of
  // trees.
  const bool by_tree = samples >= kWalks;
  std::array<Walk<T>, kWalks> walks;
  for (int64_t outer = 0; outer < (by_tree ? trees : samples); ++outer) {
    const int64_t steps = by_tree ? samples : trees;
    for (int64_t first = 0; first < steps; first += kWalks) {
      const auto some = std::span(walks).first(static_cast<size_t>(std::min(kWalks, steps - first)));
      for (size_t k = 0; k < some.size(); ++k) {
        const int64_t inner = first + static_cast<int64_t>(k), tree = by_tree ? outer : inner, sample = by_tree ? inner : outer;
        some[k] = {&nodes[static_cast<size_t>(roots_[static_cast<size_t>(tree)])], x + sample * features, sample};
      }
      walk<T, only_leq>(nodes, some);
      for (const Walk<T>& w : some)
        for (int32_t k = w.at->next[0]; k < w.at->next[1]; ++k)
          add(weights_[static_cast<size_t>(k)], scores + w.number * targets_, seen + w.number * targets_);
    }
  }
}

template <class T>
void FlatForest::run_blocks(const std::vector<Node<T>>& nodes, const T* x, int64_t samples, int64_t features, const Finish& finish) const {
  std::vector<double> scores(static_cast<size_t>(std::min(samples, kBlock) * targets_));
  std::vector<uint8_t> seen(scores.size());
  for (int64_t first = 0; first < samples; first += kBlock) {
    const int64_t count = std::min(kBlock, samples - first);
    std::ranges::fill(scores, 0);
    std::ranges::fill(seen, 0);
    if (only_leq_) add_block<T, true>(nodes, x + first * features, count, features, scores.data(), seen.data());
    else add_block<T, false>(nodes, x + first * features, count, features, scores.data(), seen.data());
    if (how_ == Aggregate::average)
      for (double& s : scores) s /= static_cast<double>(roots_.size());
    for (int64_t n = 0; n < count; ++n)
      finish(first + n, std::span(scores).subspan(static_cast<size_t>(n * targets_), static_cast<size_t>(targets_)));
  }
}

Result<void> FlatForest::run(const Tensor& x, const Finish& finish) const {
  const int64_t samples = x.rank() == 1 ? 1 : x.shape()[0], features = x.shape().back();
  if (features < least_features_)
    return fail(Code::index_out_of_range, "operand 0", "a node compares a feature that the sample lacks")
        .expected("at least " + std::to_string(least_features_) + " features")
        .found(std::to_string(features));
  if (!narrow_.empty()) run_blocks<float>(narrow_, x.as<float>().data(), samples, features, finish);
  else if (x.dtype() == DType::f64) run_blocks<double>(wide_, x.as<double>().data(), samples, features, finish);
  else run_blocks<double>(wide_, numbers_of(x).data(), samples, features, finish);
  return {};
}

}  // namespace tenon::ops
