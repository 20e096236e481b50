// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/row_tiles.h"

#include <algorithm>
#include <bit>

namespace tenon::codegen {

namespace {

/// Where the extent is known only at run time: how many heights, from the highest down, have code of their own.
constexpr int kEmittedHeights = 3;

}  // namespace

RowTiles::RowTiles(KernelEmitter& emit, const Run& run, int rows, int64_t even)
    : emit_(emit), runs_(run.times), run_rows_(run.extent), tiles_of_run_(ceil_div(run_rows_, Dim(rows))), highest_(rows) {
  const Dim extent = run_rows_;
  if (extent.is_number()) tiles_of_run_ = min(ceil_div(tiles_of_run_, Dim(even)) * Dim(even), extent);
  const Dim tiles = max(tiles_of_run_, Dim(1));
  low_height_ = floor_div(extent, tiles);
  if (extent.is_number()) {
    high_tiles_ = extent - low_height_ * tiles;
    const int low = static_cast<int>(low_height_.value());
    if (high_tiles_.value() > 0) emitted_heights_.push_back(low + 1);
    if (low > 0) emitted_heights_.push_back(low);
    if (!emitted_heights_.empty()) highest_ = emitted_heights_.front();
    return;
  }
  for (int h = rows; h > std::max(0, rows - kEmittedHeights); --h) emitted_heights_.push_back(h);
  power_limit_ = std::max(1, rows - kEmittedHeights + 1);
  // Where even tiles would be lower than that (few rows), tiles have full height, and the last one has the rest.
  const Dim too_low = less_than(low_height_, Dim(emitted_heights_.back()));
  low_height_ = select(too_low, Dim(rows), low_height_);
  high_tiles_ = select(too_low, Dim(0), extent - low_height_ * tiles);
}

RowTiles::Tile RowTiles::at(Reg number) {
  TileBuilder& b = emit_.build();
  const Reg low = emit_.dim(low_height_), higher = emit_.dim(high_tiles_);
  Reg run = kNone;
  if (!(runs_ == Dim(1))) {
    run = b.expr(ExprOp::div, {number, emit_.dim(tiles_of_run_)});
    number = b.expr(ExprOp::rem, {number, emit_.dim(tiles_of_run_)});
  }
  Tile tile;
  tile.row = b.add(b.mul(number, low), b.min(number, higher));
  const Reg next = b.add(number, emit_.integer(1));
  const Reg end = b.min(b.add(b.mul(next, low), b.min(next, higher)), emit_.dim(run_rows_));
  tile.height = b.sub(end, tile.row);
  if (run != kNone) tile.row = b.add(tile.row, b.mul(run, emit_.dim(run_rows_)));
  return tile;
}

void RowTiles::emit(Tile tile, const std::function<void(Reg row, int height)>& body) { emit_height(0, tile, body); }

void RowTiles::emit_height(size_t k, Tile tile, const std::function<void(Reg row, int height)>& body) {
  if (k == emitted_heights_.size()) return emit_in_powers_of_two(tile, body);
  const bool last = k + 1 == emitted_heights_.size() && power_limit_ <= 1;
  if (last) return body(tile.row, emitted_heights_[k]);
  const Reg has_height = emit_.build().expr(ExprOp::equal, {tile.height, emit_.integer(emitted_heights_[k])});
  emit_.build().branch(
      has_height,
      [&] {
        body(tile.row, emitted_heights_[k]);
        return std::vector<Reg>{};
      },
      [&] {
        emit_height(k + 1, tile, body);
        return std::vector<Reg>{};
      });
}

void RowTiles::emit_in_powers_of_two(Tile tile, const std::function<void(Reg row, int height)>& body) {
  if (power_limit_ <= 1) return;
  TileBuilder& b = emit_.build();
  const Reg end = b.add(tile.row, tile.height);
  Reg row = tile.row;
  for (int height = std::bit_floor(static_cast<unsigned>(power_limit_ - 1)); height > 0; height /= 2) {
    const Reg next = b.add(row, emit_.integer(height));
    row = b.branch(
        b.expr(ExprOp::less_equal, {next, end}),
        [&] {
          body(row, height);
          return std::vector<Reg>{next};
        },
        [&] { return std::vector<Reg>{row}; })[0];
  }
}

}  // namespace tenon::codegen
