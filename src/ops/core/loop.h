// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/dim/dim.h"
#include "base/dtype.h"
#include "base/expr/expr.h"

namespace tenon::ops {

/// The operator that combines the values along reduced or scanned axes.
enum class Combine : uint8_t { none, sum, product, min, max, logical_and, logical_or };

/// What an access reads: an operand of the node, or an output of a loop that comes before in the same form.
struct Source {
  enum class Kind : uint8_t { operand, loop } kind = Kind::operand;
  int index = 0;   ///< number of the operand, or of the loop
  int output = 0;  ///< of a loop: which of its outputs
};

/// One load: source[index...] where the predicate `within` holds, else `fill`. Index expressions are i64 over the loop's axes
/// (Expr::axis), sizes (Expr::dim) and earlier accesses of this loop (Expr::input: an indirect load).
struct Access {
  Source source;
  DType dtype = DType::f32;
  std::vector<Expr> index;  ///< one a dimension of the source
  Expr within;              ///< bool; null: always in bounds
  Expr fill;                ///< value where `within` is false; null only where `within` is null
};

struct Axis {
  enum class Kind : uint8_t { parallel, reduced, scanned } kind = Kind::parallel;
  Dim extent;
};

/// One output of a loop. Reduced axes are combined; a scanned axis gives the running combination at each position.
struct Output {
  DType dtype = DType::f32;
  DimList shape;
  Expr value;                       ///< over Expr::input(access), Expr::axis, Expr::dim
  Combine combine = Combine::none;  ///< none only where the loop has no reduced or scanned axis
  std::vector<Expr> index;          ///< where it is written; empty: the parallel (and scanned) axes in their order
  Expr within;                      ///< bool: written only where it holds; null: always
  bool partial = false;             ///< writes only a part of the output (Concat, Scatter); the loops before write the rest
};

/// A check of an integer operand whose elements are indices, where the loop computes with them instead of indexing with them directly: each
/// must be in 0 .. extent - 1.
struct IndexCheck {
  int access = 0;  ///< number of the access that loads the operand
  Dim extent;
};

/// A perfect loop nest. Axes are listed from the outermost.
struct Loop {
  std::vector<Axis> axes;
  std::vector<Access> accesses;
  std::vector<Output> outputs;
  std::vector<IndexCheck> index_checks;
  bool exclusive = false;  ///< the scanned result at a position leaves out the value there
  bool reverse = false;    ///< the scanned axis runs from its last position to the first
};

/// What an op computes. Output k of the node is given by `results[k]`.
struct LoopForm {
  std::vector<Loop> loops;
  std::vector<Source> results;  ///< of kind `loop`; where several loops write parts of a result (Concat), the last of them
};

/// The class of a loop, computed from its axes: element-wise (map), with a reduction or scan (row), or a sum of products (contract).
enum class LoopClass : uint8_t { map, row, contract };
LoopClass class_of(const Loop& loop);
std::string text_of(const Loop& loop);
std::string text_of(const LoopForm& form);

}  // namespace tenon::ops
