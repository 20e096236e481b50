// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// An axis of rows cut into tiles of nearly equal height: 14 rows by tiles of at most 6 are 5, 5 and 4. A low tile takes nearly as long as
/// a high one, since its sums wait for each other.
class RowTiles {
 public:
  /// rows: of the highest tile.
  RowTiles(KernelEmitter& emit, Dim extent, int rows);

  Dim count() const { return count_; }

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
  Dim extent_, count_, lower_;  ///< lower_: height of a low tile; the others have one row more
  Dim higher_;                  ///< how many others there are, the first ones
  std::vector<int> heights_;    ///< with code of their own, the likeliest first
  int powers_below_ = 0;        ///< others are put together from powers of two below that; 0: there are none
};

}  // namespace tenon::codegen
