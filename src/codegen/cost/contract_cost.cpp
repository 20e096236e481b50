// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/contract_cost.h"

#include <algorithm>

#include "codegen/tile/tile.h"

namespace tenon::codegen {
namespace {

// Share of the FMA peak measured in the same run, hot, K = 768, f32, B packed, rows of A at a padded stride, AVX-512 on Zen 4 with the code
// of LLVM 22 (bench/microkernel.cpp prints it again):
//   14x2 99.8  13x2 99.8  12x2 99.9  10x2 99.9  9x3 99.8  8x3 99.8  6x4 99.9  5x4 100.0  4x4 100.0  4x6 99.8  24x1 99.8
//   2x8 93.3   1x8 47.9   1x4 49.1 (one row uses each vector of B once: the loads are the limit)
//   7x4 spills (49): rows * vectors + vectors + 1 is above the 32 registers.
// AVX2 on Zen 3 (Zen 4 within 1 %):
//   6x2 99.5  4x3 99.6  5x2 99.4  4x2 93.8  2x4 88.7  1x8 49.2
/// Candidate tiles, the default first: it reads the weights once for inputs of few rows, and is at the peak for many.
constexpr Tile kTilesOf32Registers[] = {{14, 2}, {9, 3}, {6, 4}, {24, 1}}, kTilesOf16Registers[] = {{6, 2}, {4, 3}};

std::span<const Tile> tiles_of(const Target& target) {
  return target.registers >= 32 ? std::span<const Tile>(kTilesOf32Registers) : kTilesOf16Registers;
}

/// Bytes that a core reads from its second-level cache in a cycle beside its arithmetic.
constexpr double kL2BytesPerCycle = 28;
/// Rows of a task, whose tiles all read a panel from the second-level cache, and lanes of a task, whose panels all read those rows.
constexpr int64_t kRowsOfATask = 66, kLanesOfATask = 64;
/// Rows of a task beside panels of blocks that it unpacks to bf16, which takes longer than to f32, beside products in half of the time.
constexpr int64_t kRowsOfATaskOfPairs = 264;
/// Least tasks along the rows for which threads split the rows: with fewer, they have unequal shares.
constexpr int64_t kMinTasksOfRows = 2;
/// The same in tiles, for a product with a batch, which has enough tasks anyway: with fewer rows, each part has low tiles.
constexpr int64_t kMinTilesOfABatch = 2;
/// Least products of a block of the depth: shorter ones load and store the sums too often.
constexpr int64_t kMinDepthBlock = 512;
/// Prefetch distance: the bytes of a panel that a tile reads during the latency of memory (Zen 5: 4 KiB is 2 % slower for weights of 340
/// MB).
constexpr int64_t kPrefetchBytes = 8192;

/// The share of the peak that broadcasts allow. A group of the rows operand is broadcast by an instruction of its own, one a cycle, and
/// used by `vectors` multiply-adds. (A single product is broadcast as part of its multiply-add.) Measured on Zen 5, hot, K = 768: 24x1 55 %
/// of the peak of pairs of bf16 and 48 of fours of bytes, 14x2, 9x3 and 6x4 99 to 100.
double broadcast_share(int vectors, const MultiplyAdd& form) { return form.products == 1 ? 1 : vectors * form.cycles; }

const MultiplyAdd& instruction_of(const Contraction& c, const Target& target) {
  const MultiplyAdd* form =
      c.group == 1 ? nullptr : target.multiply_add(c.rows_operand.value.dtype(), c.lanes_operand.value.dtype(), c.sum);
  return form ? *form : target.of_f32();
}

std::optional<int64_t> number_of(Dim dim) { return dim.is_number() ? std::optional(dim.value()) : std::nullopt; }

/// ContractTactic::depth: 0 where a whole panel takes at most half of the second-level cache, else so much that a block of the panel and of
/// the rows does. Rows may come from the third-level cache (Zen 5, 128 x 3072 x 768: whole panels of 384 KiB run 1 % faster than thirds of
/// them).
int64_t depth_block_of(const Contraction& roles, Tile tile, int64_t split, const Target& target) {
  const auto depth = number_of(extent_of(roles.depth));
  const int64_t rows = std::min(number_of(extent_of(roles.rows)).value_or(split * tile.rows), split * tile.rows);
  if (!depth) return 0;
  const bool grouped = instruction_of(roles, target).products > 1;
  const auto width = [&](const ContractOperand& o) { return int64_t{bits_of(grouped ? o.value.dtype() : roles.sum)} / 8; };
  const int64_t panel_bytes = width(roles.lanes_operand) * tile.vectors * target.lanes();
  if (*depth * panel_bytes <= target.caches[1] / 2) return 0;
  const int64_t bytes = panel_bytes + width(roles.rows_operand) * rows;
  return std::max(kMinDepthBlock, target.caches[1] / 2 / bytes);
}

/// ContractTactic::by_rows. Where threads split the rows, each reads all weights; where they split the panels or the batch, each reads rows
/// that another thread wrote. The result is the number of rows from which on the weights are less. 0 for a batch without weights (heads of
/// attention), whose tasks are split by the batch first.
int64_t min_rows_to_split(const Contraction& roles, int64_t rows_of_a_task, Tile tile) {
  const auto depth = number_of(extent_of(roles.depth)), lanes = number_of(extent_of(roles.lanes));
  const bool batch = !roles.batch.empty();
  if ((batch && !roles.packed) || !depth || !lanes || *depth == 0 || *lanes == 0) return 0;
  const double rows = static_cast<double>(*depth) * static_cast<double>(*lanes) / static_cast<double>(*depth + *lanes);
  const int64_t least = batch ? kMinTilesOfABatch * tile.rows : kMinTasksOfRows * rows_of_a_task;
  return std::max(least, static_cast<int64_t>(std::min(rows, 0x1p40)));
}

/// The rows that are cut into tiles as one run; nullopt: known only at run time.
std::optional<int64_t> rows_of_tiles(const Contraction& roles, Tile tile) {
  if (roles.rows.empty()) return 1;
  const Dim last = roles.rows.back().extent;
  return number_of(lines_of(tile, roles.rows) > 1 ? last * roles.rows[roles.rows.size() - 2].extent : last);
}

/// Products of few rows unpack blocks in the registers of the widest tile, which has the most independent sums for one row.
ContractTactic blocks_tactic(const Contraction& roles, const Target& target, ContractTactic out) {
  out.tile = tile_of_blocks(target);
  const int64_t rows = roles.activations == Activations::bf16 ? kRowsOfATaskOfPairs : kRowsOfATask;
  out.split = std::max<int64_t>(1, rows / out.tile.rows);
  out.panels = std::max<int64_t>(1, kLanesOfATask / (int64_t{out.tile.vectors} * target.lanes()));
  out.by_rows = min_rows_to_split(roles, rows, out.tile);
  return out;
}

}  // namespace

int lines_of(Tile tile, const std::vector<JointAxis>& rows) {
  const auto line = rows.size() > 1 ? number_of(rows.back().extent) : std::nullopt;
  if (!line || *line <= 0 || *line * 2 > tile.rows) return 1;
  const int64_t lines = number_of(rows[rows.size() - 2].extent).value_or(tile.rows);
  return static_cast<int>(std::clamp<int64_t>(tile.rows / *line, 1, std::max<int64_t>(1, lines)));
}

double tile_share(int rows, int vectors, const Target& target, const MultiplyAdd& form) {
  const double latency_share = rows * vectors * chain_count(rows, vectors) / static_cast<double>(kSumsInFlight);
  const double l2_share = kL2BytesPerCycle * rows * form.cycles / target.register_bytes;
  return std::min({1.0, latency_share, l2_share, broadcast_share(vectors, form)});
}

double cycles_per_product(Tile tile, std::optional<int64_t> rows, std::optional<int64_t> lanes, const Target& target,
                          const MultiplyAdd& form) {
  const int64_t panel = int64_t{tile.vectors} * target.lanes();
  const double cycles_of_row = tile.vectors * form.cycles / static_cast<double>(panel * form.products);
  const double lane_padding =
      lanes && *lanes > 0 ? static_cast<double>((*lanes + panel - 1) / panel * panel) / static_cast<double>(*lanes) : 1;
  if (!rows || *rows <= 0) return cycles_of_row * lane_padding / tile_share(tile.rows, tile.vectors, target, form);
  const int64_t tiles = (*rows + tile.rows - 1) / tile.rows, low = *rows / tiles, higher = *rows % tiles;
  double shares = 0;
  for (const auto& [height, count] : {std::pair(low + 1, higher), std::pair(low, tiles - higher)})
    shares += static_cast<double>(height * count) / tile_share(static_cast<int>(height), tile.vectors, target, form);
  return cycles_of_row * lane_padding * shares / static_cast<double>(*rows);
}

Tile tile_of_blocks(const Target& target) { return *std::ranges::max_element(tiles_of(target), {}, &Tile::vectors); }

ContractTactic contract_tactic(const Group& group, const Target& target) {
  const std::span<const Tile> tiles = tiles_of(target);
  ContractTactic out{.tile = tiles[0], .prefetch = kPrefetchBytes, .grain = kFlopsWorthAThread};
  if (group.contraction()) {
    const Contraction& roles = *group.contraction();
    const auto lanes = number_of(extent_of(roles.lanes));
    const MultiplyAdd& form = instruction_of(roles, target);
    if (roles.in_blocks) return blocks_tactic(roles, target, std::move(out));
    // Another tile must be faster by more than the error of the model.
    constexpr double kMargin = 0.95;
    double best = cycles_per_product(out.tile, rows_of_tiles(roles, out.tile), lanes, target, form) * kMargin;
    for (const Tile tile : tiles.subspan(1)) {
      const double cycles = cycles_per_product(tile, rows_of_tiles(roles, tile), lanes, target, form);
      if (cycles < best) best = cycles, out.tile = tile;
    }
  }
  // Rows of bytes take less cache and time, so tasks have more of them: ResNet-50 of int8 runs 4 % faster with twice the rows.
  const int64_t rows_of_a_task = group.contraction() ? kRowsOfATask * std::max(1, group.contraction()->group / 2) : kRowsOfATask;
  out.split = std::max<int64_t>(1, rows_of_a_task / out.tile.rows);
  out.panels = std::max<int64_t>(1, kLanesOfATask / (int64_t{out.tile.vectors} * target.lanes()));
  if (group.contraction()) out.by_rows = min_rows_to_split(*group.contraction(), rows_of_a_task, out.tile);
  if (group.contraction()) out.depth = depth_block_of(*group.contraction(), out.tile, out.split, target);
  // Weights that stay in the second-level cache between iterations need no prefetch: an LSTM of 256 runs 25 % faster with one row (Zen 5).
  const auto* product = std::get_if<ContractGroup>(&group.payload);
  const int64_t weight_bytes = product ? product->constant_bytes_per_iteration.value_or(target.caches[1] + 1) : target.caches[1] + 1;
  if (weight_bytes <= target.caches[1]) out.prefetch = 0;
  return out;
}

}  // namespace tenon::codegen
