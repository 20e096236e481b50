// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/winograd/tiles.h"

namespace tenon::codegen {

/// Loops that compute the tiles of a convolution whose rounding errors would be too large with a minimal filter: these are summed plainly.
/// The rounding errors of a minimal filter are in proportion to all of its tile; those of the plain sum at a result, to the 3x3 elements
/// that it reads. So a tile is plain where
///     sum of x^2 over it  >  PlanLimits::tile_contrast * the least sum of x^2 over a block of 2x2 pixels in it,
/// each over all channels, or where the left side is not finite. Each window of 3x3 holds one of the blocks; a block that is cut off by the
/// padding counts as if it went on. The errors of a tile that is not plain are up to sqrt(tile_contrast / 9) times those of one whose
/// elements are alike. Elements below 1e-22 have squares that are 0 in f32.
class PlainTiles {
 public:
  /// c, nest: the convolution and its nest. tiles: with outputs x outputs results each. All must outlive this object.
  PlainTiles(Plan& plan, const Convolution& c, const Nest& nest, const TileGrid& tiles, int outputs);

  /// The array of bool [images, down, across] that is true for plain tiles. groups(): the two loops that compute it.
  ArrayId marks() const { return marks_; }
  std::vector<Group> groups() const;

  /// A loop over the marked tiles only, which stores result (i, j) of a tile at position i * outputs + j of
  /// products[position, image, down, across, channel].
  Group sums(ArrayId products) const;

 private:
  Nest energy_loop() const;
  Nest marks_loop() const;
  /// The energy of block (i, j) of a tile, scaled up where a part of the block is in the padding; infinity where all of it is.
  Expr whole_energy(Expr energy, int64_t i, int64_t j) const;
  int64_t blocks() const { return outputs_ / 2 + 1; }

  Plan& plan_;
  const Convolution& c_;
  const TileGrid& tiles_;
  const int outputs_;
  TileGrid grid_;  ///< of the blocks
  ArrayId energy_ = -1, marks_ = -1, kernels_ = -1;
};

}  // namespace tenon::codegen
