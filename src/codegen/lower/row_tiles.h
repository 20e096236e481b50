// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// An axis of rows cut into tiles of nearly equal height: 14 rows by tiles of at most 6 are 5, 5 and 4. A low tile takes nearly as long as
/// a high one, since its sums wait for each other.
class RowTiles {
 public:
  /// Rows that are `times` over `extent`, and whose tiles end with each of them: the images of a batch.
  struct Run {
    Dim times = 1, extent = 1;
  };
  /// rows: of the highest tile. even: tiles of an extent that is known are a multiple of that.
  RowTiles(KernelEmitter& emit, const Run& run, int rows, int64_t even = 1);

  Dim count() const { return each_ * times_; }
  Dim of_each() const { return each_; }
  /// Rows of the highest tile that there is.
  int highest() const { return highest_; }

  struct Tile {
    Reg row = kNone, height = kNone;
  };
  Tile at(Reg number);
  /// Emits the tile for each height that it can have, and what chooses between them. A height that has no code of its own is several tiles.
  void emit(Tile tile, const std::function<void(Reg row, int height)>& body);

 private:
  void emit_one_of(size_t k, Tile tile, const std::function<void(Reg row, int height)>& body);
  void emit_by_powers(Tile tile, const std::function<void(Reg row, int height)>& body);

  KernelEmitter& emit_;
  Dim times_, extent_, each_;  ///< each_: tiles of an extent
  Dim lower_;                  ///< height of a low tile; the others have one row more
  int highest_;
  Dim higher_;                ///< how many others there are, the first ones
  std::vector<int> heights_;  ///< with code of their own, the likeliest first
  int powers_below_ = 0;      ///< others are put together from powers of two below that; 0: there are none
};

}  // namespace tenon::codegen
