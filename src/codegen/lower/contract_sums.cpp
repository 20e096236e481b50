// SPDX-License-Identifier: Apache-2.0
// The sums of a register tile: contracted, kept in scratch memory, finished.
#include <algorithm>

#include "codegen/lower/contract_lowering.h"

namespace tenon::codegen {

void ContractLowering::clear_sums(const Share& share) {
  const Reg zero = zeros();
  const Reg panels = build().sub(share.panels_end, share.panel);
  build().loop(emit_.integer(0), panels, emit_.integer(1), [&](Reg p) {
    const Reg from = slot_of(p, emit_.integer(0));
    build().loop(from, build().add(from, build().mul(share.tiles, emit_.integer(slot()))), emit_.integer(emit_.lanes()),
                 [&](Reg at) { build().store(scratch_, at, zero); });
  });
}

std::vector<Reg> ContractLowering::load_sums(Reg place, int height) {
  std::vector<Reg> sums;
  for (int k = 0; k < height * shape_.vectors; ++k)
    sums.push_back(build().load(scratch_, build().add(place, emit_.integer(int64_t{k} * emit_.lanes())), emit_.lanes()));
  return sums;
}

std::vector<Reg> ContractLowering::contract(size_t k, int rows, const Reads& at, std::vector<Reg> sums, const DepthSlice& slice) {
  if (k + 1 == roles_.depth.size()) {
    if (blocks_format_ && !reads_unpacked(rows * line_)) return contract_blocks(rows * line_, at, std::move(sums));
    const JointAxis& inner = roles_.depth[k];
    const Dim a_step = places_.rows_step(inner);
    Contract c;
    c.rows = rows * line_;
    c.vectors = shape_.vectors;
    c.lanes = emit_.lanes();
    c.a = places_.rows_buffer();
    c.b = blocks_format_ ? unpacked_buffer_ : lanes_buffer_;
    c.a_offset = at.rows;
    c.a_row_stride = emit_.dim(roles_.rows.empty() ? Dim(0) : places_.rows_step(roles_.rows.back()));
    if (line_ > 1) c.rows_per_line = line_, c.a_line_stride = emit_.dim(places_.rows_step(roles_.rows[tiled_axis_]));
    c.a_k_stride = a_step == Dim(1) ? kNone : emit_.dim(a_step);
    c.b_offset = at.lanes;
    c.b_k_stride = emit_.integer(panel() * products());
    c.depth = slice.length == kNone ? emit_.dim(ceil_div(inner.extent, Dim(products()))) : groups_in(slice.length);
    c.accumulator = roles_.sum;
    c.products = products();
    c.in_order = blocks_format_ != nullptr;
    c.prefetch_b_bytes = blocks_format_ ? 0 : static_cast<int>(tactic_.prefetch);
    c.prefetch_from = at.fetch;
    c.scale = places_.scale_buffer();
    c.scale_offset = at.scale;
    if (c.scale >= 0) c.scale_k_stride = emit_.dim(places_.scale_step(inner));
    c.accumulators_in = std::move(sums);
    return build().contract(std::move(c));
  }
  if (sums[0] == kNone) {
    const Reg nothing = zeros();
    std::fill(sums.begin(), sums.end(), nothing);
  }
  const bool some = at.outermost.from != kNone;
  const Reg from = some ? at.outermost.from : emit_.integer(0), to = some ? at.outermost.to : emit_.dim(roles_.depth[k].extent);
  return build().loop(from, to, emit_.integer(1), std::move(sums), [&](Reg i, const std::vector<Reg>& inside) {
    Reads here{emit_.add_scaled(at.rows, places_.rows_step(roles_.depth[k]), i), emit_.add_scaled(at.lanes, packed_step(k), i)};
    here.scale = emit_.add_scaled(at.scale, places_.scale_step(roles_.depth[k]), i);
    if (at.fetch != kNone) here.fetch = emit_.add_scaled(at.fetch, fetch_step(packed_step(k)), i);
    return contract(k + 1, rows, here, inside, slice);
  });
}

void ContractLowering::finish_in_registers(const Task& task, int rows, const std::vector<Reg>& sums) {
  for (int r = 0; r < rows * line_; ++r) {
    const Task line = r < line_ ? task : at_row(task, emit_.integer(r / line_));
    const Task here = r % line_ == 0 ? line : within_line(line, emit_.integer(r % line_));
    for (int v = 0; v < shape_.vectors; ++v) finish(here, v, {&sums[static_cast<size_t>(r) * shape_.vectors + v], 1});
  }
}

void ContractLowering::finish_stored(const Task& task, Reg place, int64_t step, Reg rows) {
  const auto each = [&](const Task& here, Reg line) {
    for (int v = 0; v < registers_of_bundle(); ++v) {
      std::vector<Reg> sums;
      for (int c = 0; c < columns_; ++c) {
        const int number = v * columns_ + c;
        const int64_t at = number / shape_.vectors * step + int64_t{number % shape_.vectors} * emit_.lanes();
        sums.push_back(build().load(scratch_, build().add(line, emit_.integer(at)), emit_.lanes()));
      }
      finish(here, v, sums);
    }
  };
  build().loop(emit_.integer(0), rows, emit_.integer(1), [&](Reg r) {
    const Task here = at_row(task, r);
    const Reg first = build().add(place, build().mul(r, emit_.integer(line_ * panel())));
    if (line_ == 1) return each(here, first);
    build().loop(emit_.integer(0), emit_.integer(line_), emit_.integer(1),
                 [&](Reg i) { each(within_line(here, i), build().add(first, build().mul(i, emit_.integer(panel())))); });
  });
}

}  // namespace tenon::codegen
