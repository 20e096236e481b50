// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "codegen/cost/tactic.h"
#include "codegen/cost/walk.h"

namespace tenon::codegen {

/// Sums of products on register tiles, `times` over.
struct ProductWork {
  Dim times = 1, rows = 1, lanes = 1, depth = 1;
  Tile tile;
  const MultiplyAdd* form = nullptr;
  Dim left_out = 0;  ///< of times * rows * depth: products in the padding, which are not computed
  Dim line = 1;      ///< rows that one tile contains, all or none of them
};

/// Points of a loop.
struct LoopWork {
  Dim points = 1;
  Dim along = 0;                         ///< extent of the axis that lies along the lanes; 0: one point at a time
  double operations = 0, functions = 0;  ///< of a point: arithmetic, in additions, and transcendental functions but for exponentials
  double exponentials = 0;
  double loads = 0;   ///< and stores
  double single = 0;  ///< loads of which each lane takes its own
  Dim runs = 0;       ///< loops along the lanes that are entered; 0: they are written out on a tile
  Dim inner = 0;      ///< and for each register of those
  Dim joins = 0;      ///< sums along the lanes that are put together
  double waits = 0;   ///< additions that a point takes at least, for the sum that it is added to
};

/// What a kernel does, as far as its time depends on it; sizes are those of the graph.
struct Work {
  std::vector<ProductWork> products;
  std::vector<LoopWork> loops;
  std::vector<Walk> walks = {};  ///< of each argument
};

/// Of a contraction, without its epilogue; nothing is left out.
ProductWork product_work(const Contraction& roles, Tile tile, const Target& target);
/// Of an attention nest: both products for each head, and the weights of each pair of a query and a key.
Work attention_work(const Nest& nest, Tile tile, const Target& target);
/// vector: the axis along the lanes; -1: none. transposed: the axis along which loads lie that are transposed in registers; -1: none are.
/// sums: that a row along the lanes is summed up in side by side. unrolled: longest axis of a reduction that is written out.
LoopWork loop_work(const Nest& nest, int vector, int transposed, int sums, int64_t unrolled, const Plan& plan);

/// Of a map that runs on tiles of sums before they are stored.
LoopWork epilogue_work(const Epilogue& epilogue, Dim lanes, const Plan& plan);
/// Of a window sum: a point is a product. loads: of a product; data and weights of one are used for several.
LoopWork window_work(const Nest& nest, int channels, double loads);

/// Of what the multiply-adds multiply: bf16, or i8 for bytes of either sign, where the target has a form for those; f32 otherwise.
DType factors_of(const Work& work);

/// The work with numbers in place of symbols; nullopt where one has none.
std::optional<Work> with_sizes(const Work& work, const std::function<Dim(const DimNode& symbol)>& value_of);

}  // namespace tenon::codegen
