// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/tensor.h"
#include "rewrite/verify/element_source.h"
#include "rewrite/verify/subgraph.h"

namespace tenon::rewrite {

/// How the sizes of an instance are chosen. distinct: every symbol another number; zero_first: the first symbol 0, the others 2.
enum class SizeChoice : uint8_t { distinct, ones, twos, threes, fours, twelves, zeros, zero_first, one_three, three_one };

/// Inputs on which both sides of a subgraph are run.
struct Instance {
  std::vector<Tensor> inputs;
  std::unordered_map<const DimNode*, int64_t> sizes;  ///< the numbers chosen for the symbols
};
/// Whether a result has the shape that inference gives for these sizes. It may not: a Reshape to [batch, sequence, 3] that an exporter
/// wrote means something else where batch or sequence is 0 (0 copies a size), while rules rely on the inferred shapes.
bool is_as_promised(const ir::Type& type, const Sizes& shape, const Instance& instance);

/// Draws inputs for a subgraph. Sizes agree with the dims of all inputs and with the bounds of the symbols; integers whose elements follow
/// from sizes (a reshape's target) are computed from them, so that they are consistent. Inputs of unknown rank get ranks 0 to 3 in
/// rotation.
class Sampler {
 public:
  explicit Sampler(const ir::Graph& original, const Subgraph& subgraph, uint64_t seed);
  bool has_symbols() const { return !symbols_.empty() || any_rank_; }
  /// nullopt where these sizes are not possible, or would need over `most_elements` elements. `only_one`: of the float inputs, another one
  /// each time; the others are normal.
  std::optional<Instance> draw(SizeChoice size_choice, Distribution distribution, int64_t most_elements, bool only_one = false);
  /// The same inputs, floats moved by one or two steps of their dtype up or down.
  std::vector<Tensor> perturbed(std::span<const Tensor> inputs);

 private:
  using Sizing = decltype(Instance::sizes);
  void collect(Dim dim);
  std::optional<Sizing> sizing(SizeChoice size_choice);
  std::optional<Tensor> tensor(const ir::Value& value, const Sizing& sizes, SizeChoice size_choice, Distribution distribution,
                               int64_t& elements_left);

  const ir::Graph& original_;
  const Subgraph& subgraph_;
  std::vector<const DimNode*> symbols_;
  bool any_rank_ = false;
  int drawn_ = 0;
  size_t draw_count_ = 0;
  ElementSource elements_;
};

}  // namespace tenon::rewrite
