// SPDX-License-Identifier: Apache-2.0
// Panels of blocks: weights are unpacked as code * scale + minimum, rounded once, in registers of low tiles or before high ones.
#include "codegen/lower/contract_lowering.h"

namespace tenon::codegen {

std::vector<Reg> ContractLowering::each_block_step(Reg panel_at, std::vector<Reg> carried, const BlockUnpacker::Steps& body) {
  BlockUnpacker unpacker(emit_, {.format = blocks_format_,
                                 .codes = lanes_buffer_,
                                 .scales = scales_buffer_,
                                 .vectors = shape_.vectors,
                                 .prefetch = tactic_.prefetch});
  return unpacker.each_step(panel_at, emit_.dim(roles_.depth.back().extent), std::move(carried), body);
}

void ContractLowering::unpack_panels(const Share& share, const PanelShare& part) {
  const auto unpack = [&] {
    each_of_bundle(share, part.number, [&](Reg k) {
      const Reg to = build().mul(k, emit_.dim(panel_size()));
      each_block_step(build().add(part.task.lanes, to), {}, [&](Reg first, const auto& weights, std::vector<Reg>&) {
        const Reg row = build().add(to, build().mul(first, emit_.integer(panel())));
        for (int step = 0; step < BlockUnpacker::kSteps; ++step) {
          const std::vector<Reg> w = weights(step);
          for (int v = 0; v < shape_.vectors; ++v)
            build().store(unpacked_buffer_, build().add(row, emit_.integer(step * panel() + int64_t{v} * emit_.lanes())), w[v]);
        }
      });
    });
    return std::vector<Reg>{};
  };
  int most = 0;  // rows that are one tile, which unpacks in registers
  while (unpacks_in_registers(most + 1)) ++most;
  const Reg high = emit_.build().expr(ExprOp::less, {emit_.integer(most), emit_.dim(run_.extent)});
  build().branch(high, unpack, [] { return std::vector<Reg>{}; });
}

std::vector<Reg> ContractLowering::contract_blocks(int rows, const Reads& at, std::vector<Reg> sums) {
  const Reg row_step = emit_.dim(roles_.rows.empty() ? Dim(0) : places_.rows_step(roles_.rows.back()));
  const Reg step_of_depth = emit_.dim(places_.rows_step(roles_.depth.back()));
  std::vector<Reg> starts;
  for (int r = 0; r < rows; ++r) starts.push_back(build().add(at.rows, build().mul(row_step, emit_.integer(r))));
  for (Reg& sum : sums)
    if (sum == kNone) sum = zeros();
  return each_block_step(at.lanes, std::move(sums), [&](Reg first, const auto& weights, std::vector<Reg>& carried) {
    const Reg moved = build().mul(first, step_of_depth);
    for (int step = 0; step < BlockUnpacker::kSteps; ++step) {
      const Reg further = build().mul(step_of_depth, emit_.integer(step));
      const std::vector<Reg> w = weights(step);
      for (int r = 0; r < rows; ++r) {
        const Reg place = build().add(build().add(starts[r], moved), further);
        Reg a = build().load(places_.rows_buffer(), place, emit_.lanes(), {.broadcast = true});
        if (build().type(a).element != roles_.sum) a = build().expr(ExprOp::cast, {a}, roles_.sum);
        for (int v = 0; v < shape_.vectors; ++v) {
          Reg& sum = carried[static_cast<size_t>(r) * shape_.vectors + v];
          sum = build().fma(a, w[v], sum);
        }
      }
    }
  });
}

}  // namespace tenon::codegen
