// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "codegen/cost/access_pattern.h"
#include "codegen/cost/tactic.h"

namespace tenon::codegen {

/// `times` products of a [rows, depth] matrix and a [depth, lanes] matrix on register tiles.
struct ProductWork {
  Dim times = 1, rows = 1, lanes = 1, depth = 1;
  Tile tile;
  const MultiplyAdd* instruction = nullptr;  ///< that multiplies and adds
  Dim skipped_products = 0;                  ///< of times * rows * depth: those that read padding and are not computed
  Dim rows_per_line = 1;                     ///< a tile contains whole lines of so many rows (lines_of)
};

/// The points of a loop nest, and what one point costs. Operations are counted in additions.
struct LoopWork {
  Dim points = 1;
  Dim lane_extent = 0;         ///< extent of the vectorised axis; 0: scalar code
  double operations = 0;       ///< arithmetic of a point
  double transcendentals = 0;  ///< transcendental functions of a point, without exponentials
  double exponentials = 0;     ///< exponentials of a point
  double loads = 0;            ///< loads and stores of a point, but for gathers
  double gathers = 0;          ///< loads and stores of a point that access memory lane by lane
  Dim vector_loops = 0;        ///< how often a loop along the lanes is entered; 0: it is unrolled on a tile
  Dim inner_loops = 0;         ///< loops that are entered for each register of such a loop
  Dim lane_reductions = 0;     ///< horizontal reductions of a register to a scalar
  double sum_latency = 0;      ///< least cost of a point, since its addition waits for the one before in the same sum
};

/// What a kernel does, as far as its time depends on it. Sizes are those of the graph.
struct Work {
  std::vector<ProductWork> products;
  std::vector<LoopWork> loops;
  std::vector<AccessPattern> access_patterns = {};  ///< one for each argument
};

/// The work of a contraction without its epilogue. No products are skipped.
ProductWork product_work(const Contraction& roles, Tile tile, const Target& target);
/// The work of an attention nest: both matrix products of each head, and the softmax of each pair of a query and a key.
Work attention_work(const Nest& nest, Tile tile, const Target& target);
/// The same where the keys lie along the lanes of tiles of `rows` heads of one query and `vectors` registers, of the runs where `used`
/// is 1.
Work few_queries_work(const Nest& nest, Dim used, int rows, int vectors, const Target& target);
/// The work of a loop nest.
/// vector: the vectorised axis; -1: none.
/// transposed: the axis along which loads are contiguous that are transposed in registers; -1: none.
/// sums: partial sums that a reduction along the lanes keeps in registers.
/// unrolled: extents of reduced axes up to this one are unrolled.
LoopWork loop_work(const Nest& nest, int vector, int transposed, int sums, int64_t unrolled, const Plan& plan);

/// The work of an epilogue on tiles of sums. lanes: extent of the axis along the lanes.
LoopWork epilogue_work(const Epilogue& epilogue, Dim lanes, const Plan& plan);
/// The work of a window sum, whose points are products. channels: its vectorised axis. loads: loads for each product, which may be below 1,
/// since a loaded element serves several products.
LoopWork window_work(const Nest& nest, int channels, double loads);

/// The dtype of the factors that the kernel's multiply-adds take: bf16, i8 (for bytes with or without a sign), or f32 for all others.
DType factor_dtype(const Work& work);

/// The work with numbers in place of symbols; nullopt where `value_of` gives no number for one.
std::optional<Work> with_sizes(const Work& work, const std::function<Dim(const DimNode& symbol)>& value_of);

}  // namespace tenon::codegen
