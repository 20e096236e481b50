// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/row_tiles.h"

#include <algorithm>
#include <bit>

namespace tenon::codegen {

namespace {

/// Of an extent that is known at the run only: heights from the highest down that have code of their own.
constexpr int kOwnHeights = 3;

}  // namespace

RowTiles::RowTiles(KernelEmitter& emit, const Run& run, int rows, int64_t even)
    : emit_(emit), times_(run.times), extent_(run.extent), each_(ceil_div(extent_, Dim(rows))), highest_(rows) {
  const Dim extent = extent_;
  if (extent.is_number()) each_ = min(ceil_div(each_, Dim(even)) * Dim(even), extent);
  const Dim tiles = max(each_, Dim(1));
  lower_ = floor_div(extent, tiles);
  if (extent.is_number()) {
    higher_ = extent - lower_ * tiles;
    const int low = static_cast<int>(lower_.value());
    if (higher_.value() > 0) heights_.push_back(low + 1);
    if (low > 0) heights_.push_back(low);
    if (!heights_.empty()) highest_ = heights_.front();
    return;
  }
  for (int h = rows; h > std::max(0, rows - kOwnHeights); --h) heights_.push_back(h);
  powers_below_ = std::max(1, rows - kOwnHeights + 1);
  // Few rows that do not fall into such heights are whole tiles and a rest.
  const Dim uneven = less_than(lower_, Dim(heights_.back()));
  lower_ = select(uneven, Dim(rows), lower_);
  higher_ = select(uneven, Dim(0), extent - lower_ * tiles);
}

RowTiles::Tile RowTiles::at(Reg number) {
  TileBuilder& b = emit_.build();
  const Reg low = emit_.dim(lower_), higher = emit_.dim(higher_);
  Reg run = kNone;
  if (!(times_ == Dim(1))) {
    run = b.expr(ExprOp::div, {number, emit_.dim(each_)});
    number = b.expr(ExprOp::rem, {number, emit_.dim(each_)});
  }
  Tile tile;
  tile.row = b.add(b.mul(number, low), b.min(number, higher));
  const Reg next = b.add(number, emit_.integer(1));
  const Reg end = b.min(b.add(b.mul(next, low), b.min(next, higher)), emit_.dim(extent_));
  tile.height = b.sub(end, tile.row);
  if (run != kNone) tile.row = b.add(tile.row, b.mul(run, emit_.dim(extent_)));
  return tile;
}

void RowTiles::emit(Tile tile, const std::function<void(Reg row, int height)>& body) { emit_one_of(0, tile, body); }

void RowTiles::emit_one_of(size_t k, Tile tile, const std::function<void(Reg row, int height)>& body) {
  if (k == heights_.size()) return emit_by_powers(tile, body);
  const bool last = k + 1 == heights_.size() && powers_below_ <= 1;
  if (last) return body(tile.row, heights_[k]);
  const Reg is_it = emit_.build().expr(ExprOp::equal, {tile.height, emit_.integer(heights_[k])});
  emit_.build().branch(
      is_it,
      [&] {
        body(tile.row, heights_[k]);
        return std::vector<Reg>{};
      },
      [&] {
        emit_one_of(k + 1, tile, body);
        return std::vector<Reg>{};
      });
}

void RowTiles::emit_by_powers(Tile tile, const std::function<void(Reg row, int height)>& body) {
  if (powers_below_ <= 1) return;
  TileBuilder& b = emit_.build();
  const Reg end = b.add(tile.row, tile.height);
  Reg row = tile.row;
  for (int height = std::bit_floor(static_cast<unsigned>(powers_below_ - 1)); height > 0; height /= 2) {
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
