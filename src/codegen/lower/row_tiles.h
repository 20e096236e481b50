// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// An axis of rows cut into tiles of nearly equal height: 14 rows in tiles of at most 6 are 5, 5 and 4. A low tile takes nearly as long as
/// a high one, since it has too few independent sums to hide the latency of additions.
class RowTiles {
 public:
  /// The rows: `times` runs of `extent` rows each (the images of a batch). No tile crosses the end of a run.
  struct Run {
    Dim times = 1, extent = 1;
  };
  /// rows: the most rows of a tile. even: where the extent of a run is known, its number of tiles is a multiple of this.
  RowTiles(KernelEmitter& emit, const Run& run, int rows, int64_t even = 1);

  /// Tiles of all runs.
  Dim count() const { return tiles_of_run_ * runs_; }
  /// Tiles of one run.
  Dim of_each() const { return tiles_of_run_; }
  /// Rows of the highest tile that there is.
  int highest() const { return highest_; }

  struct Tile {
    Reg row = kNone, height = kNone;  ///< first row, counted over all runs, and number of rows
  };
  /// Emits the first row and the height of that tile.
  Tile at(Reg number);
  /// Emits the body for each height that a tile may have, and branches that choose between them. A height without code of its own runs as
  /// several lower tiles, whose heights are powers of two.
  void emit(Tile tile, const std::function<void(Reg row, int height)>& body);

 private:
  /// Emits the tile for heights from emitted_heights_[k] on, then in powers of two.
  void emit_height(size_t k, Tile tile, const std::function<void(Reg row, int height)>& body);
  void emit_in_powers_of_two(Tile tile, const std::function<void(Reg row, int height)>& body);

  KernelEmitter& emit_;
  Dim runs_, run_rows_, tiles_of_run_;  ///< Run::times, Run::extent, and tiles of one run
  Dim low_height_;                      ///< height of the low tiles of a run; its first tiles have one row more
  int highest_;
  Dim high_tiles_;                    ///< number of those first tiles
  std::vector<int> emitted_heights_;  ///< heights with code of their own, the most frequent first
  int power_limit_ = 0;               ///< tiles of other heights run as tiles of powers of two below this; 0: there are no other heights
};

}  // namespace tenon::codegen
