// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/dim/dim.h"
#include "base/dtype.h"
#include "base/expr/expr.h"

namespace tenon::ops {

/// How values met along reduced or scanned axes are combined.
enum class Combine : uint8_t { none, sum, product, min, max, logical_and, logical_or };

/// Where an access reads from: an operand of the node, or the output of an earlier loop of the same form.
struct Source {
  enum class Kind : uint8_t { operand, earlier } kind = Kind::operand;
  int index = 0;   ///< operand number; or loop number
  int output = 0;  ///< of an earlier loop: which of its outputs
};

/// One load: source[index...] where `within` holds, else `fill`. Index expressions are i64 over the loop's axes
/// (Expr::axis), sizes (Expr::dim) and earlier accesses of this loop (Expr::input: an indirect load).
struct Access {
  Source source;
  DType dtype = DType::f32;
  std::vector<Expr> index;  ///< one a dimension of the source
  Expr within;              ///< bool; null: always in bounds
  Expr fill;                ///< value outside; null only where `within` is null
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
  bool partial = false;             ///< writes only a part of the output (Concat, Scatter): earlier loops write the rest
};

/// What an integer operand must keep where no access takes it for an index as it is: each of its elements is one of 0 .. extent - 1.
struct Place {
  int access = 0;  ///< the load of it
  Dim extent;
};

/// A perfect loop nest. Axes are listed from the outermost.
struct Loop {
  std::vector<Axis> axes;
  std::vector<Access> accesses;
  std::vector<Output> outputs;
  std::vector<Place> places;
  bool exclusive = false, reverse = false;  ///< of the scanned axis
};

/// What an op computes. Output k of the node is given by `results[k]`.
struct LoopForm {
  std::vector<Loop> loops;
  std::vector<Source> results;  ///< kind earlier; Concat-like ops name the last loop that writes
};

/// What a loop is; computed, never declared.
enum class LoopClass : uint8_t { map, row, contract };
LoopClass class_of(const Loop& loop);
std::string text_of(const Loop& loop);
std::string text_of(const LoopForm& form);

}  // namespace tenon::ops
