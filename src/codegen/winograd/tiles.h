// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/winograd/convolution.h"

namespace tenon::codegen {

/// Axes of the loops over tiles: images, tiles down and across, channels, and what a sum adds up.
enum TileAxis : int { kImage, kDown, kAcross, kChannel, kInput };

/// A grid of squares over a convolution's image, `step` elements apart, from the first element of the first window on.
class TileGrid {
 public:
  /// nest: of the convolution; must outlive the grid. down, across: number of squares in an image, vertically and horizontally.
  TileGrid(const Convolution& c, const Nest& nest, int64_t step, Dim down, Dim across)
      : c_(c), nest_(nest), step_(step), down_(down), across_(across) {}

  Dim down() const { return down_; }
  Dim across() const { return across_; }

  /// A nest over images, squares and channels, all parallel.
  Nest loop(Dim channels) const;
  /// Coordinate in the image of row (or column) `at` of a square: square * step + at. squares: kDown for rows, kAcross for columns.
  Expr coordinate(TileAxis squares, Dim at) const;
  /// The condition from <= coordinate(squares, at) < to; null where it always holds.
  Expr in_range(TileAxis squares, Dim at, Dim from, Dim to) const;
  /// Element (i, j) of a square of the image, 0 in the padding. channels: the axis that walks them.
  NestAccess element(int64_t i, int64_t j, TileAxis channels) const;

 private:
  const Convolution c_;
  const Nest& nest_;
  int64_t step_;
  Dim down_, across_;
};

/// a and b; null is true.
Expr conjunction(const Expr& a, const Expr& b);
/// A group of loops that belongs to a contraction of the same node (LoopGroup::auxiliary).
Group auxiliary_group(Nest nest);
ops::Axis parallel_axis(Dim extent);
ops::Axis reduced_axis(Dim extent);
Expr index_of(int64_t value);

}  // namespace tenon::codegen
