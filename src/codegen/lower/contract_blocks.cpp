// SPDX-License-Identifier: Apache-2.0
// Panels of blocks: weights are unpacked as code * scale + minimum, rounded once, in registers of low tiles or before high ones. Rows of
// bytes are multiplied with the codes.
#include <bit>

#include "codegen/lower/contract_lowering.h"

namespace tenon::codegen {

BlockUnpacker ContractLowering::unpacker() {
  return {emit_,
          {.format = blocks_format_,
           .codes = lanes_buffer_,
           .scales = scales_buffer_,
           .vectors = shape_.vectors,
           .prefetch = tactic_.prefetch}};
}

std::vector<Reg> ContractLowering::each_block_step(Reg panel_at, std::vector<Reg> carried, const BlockUnpacker::Steps& body) {
  return unpacker().each_step(panel_at, emit_.dim(roles_.depth.back().extent), std::move(carried), body);
}

void ContractLowering::unpack_panels(const Share& share, const PanelShare& part) {
  const auto store = [&](Reg row, int step, const auto& weights) {
    const std::vector<Reg> w = weights(step), next = products() == 2 ? weights(step + 1) : w;
    for (int v = 0; v < shape_.vectors; ++v) {
      const Reg at = build().add(row, emit_.integer(step * panel() + int64_t{v} * emit_.lanes() * products()));
      if (products() == 2) build().store(unpacked_buffer_, at, build().pair(w[v], next[v]), {.words = true});
      else build().store(unpacked_buffer_, at, w[v]);
    }
  };
  const auto unpack = [&] {
    each_of_bundle(share, part.number, [&](Reg k) {
      const Reg to = build().mul(k, emit_.dim(panel_size()));
      each_block_step(build().add(part.task.lanes, to), {}, [&](Reg first, const auto& weights, std::vector<Reg>&) {
        const Reg row = build().add(to, build().mul(first, emit_.integer(panel())));
        for (int step = 0; step < BlockUnpacker::kSteps; step += products()) store(row, step, weights);
      });
    });
    return std::vector<Reg>{};
  };
  int most = 0;  // rows that are one tile, which unpacks in registers
  while (unpacks_in_registers(most + 1)) ++most;
  const Reg high = emit_.build().expr(ExprOp::less, {emit_.integer(most), emit_.dim(run_.extent)});
  build().branch(high, unpack, [] { return std::vector<Reg>{}; });
}

std::vector<Reg> ContractLowering::row_starts(int rows, const Reads& at) {
  const Reg row_step = emit_.dim(roles_.rows.empty() ? Dim(0) : places_.rows_step(roles_.rows.back()));
  const Reg line_step = line_ > 1 ? emit_.dim(places_.rows_step(roles_.rows[tiled_axis_])) : kNone;
  std::vector<Reg> out;
  for (int r = 0; r < rows; ++r) {
    const int in_line = line_ > 1 ? r % line_ : r;
    Reg start = build().add(at.rows, build().mul(row_step, emit_.integer(in_line)));
    if (line_ > 1) start = build().add(start, build().mul(line_step, emit_.integer(r / line_)));
    out.push_back(start);
  }
  return out;
}

std::vector<Reg> ContractLowering::contract_blocks(int rows, const Reads& at, std::vector<Reg> sums) {
  for (Reg& sum : sums)
    if (sum == kNone) sum = zeros();
  if (rounded_.scales >= 0) return contract_bytes(rows, at, std::move(sums));
  if (products() == 2) return contract_pairs(rows, at, std::move(sums));
  const std::vector<Reg> starts = row_starts(rows, at);
  const Reg step_of_depth = emit_.dim(places_.rows_step(roles_.depth.back()));
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

std::vector<Reg> ContractLowering::contract_pairs(int rows, const Reads& at, std::vector<Reg> sums) {
  const std::vector<Reg> starts = row_starts(rows, at);
  return each_block_step(at.lanes, std::move(sums), [&](Reg first, const auto& weights, std::vector<Reg>& carried) {
    for (int step = 0; step < BlockUnpacker::kSteps; step += 2) {
      std::vector<Reg> pairs = weights(step);
      const std::vector<Reg> next = weights(step + 1);
      for (size_t v = 0; v < pairs.size(); ++v) pairs[v] = build().pair(pairs[v], next[v]);
      for (int r = 0; r < rows; ++r) {
        const Reg place = build().add(build().add(starts[r], first), emit_.integer(step));
        const Reg a = build().load(places_.rows_buffer(), place, emit_.lanes(), {.broadcast = true, .words = true});
        for (int v = 0; v < shape_.vectors; ++v) {
          Reg& sum = carried[static_cast<size_t>(r) * shape_.vectors + v];
          sum = build().dot(a, pairs[v], sum);
        }
      }
    }
  });
}

void ContractLowering::add_run(const BlockUnpacker::Run& run, const std::vector<Reg>& starts, const std::vector<Reg>& integers,
                               const std::function<Reg(size_t k)>& sum_of, const std::function<void(size_t k, Reg sum)>& set_sum) {
  const Reg shift = emit_.integer(std::countr_zero(static_cast<unsigned>(rounded_.run)));
  for (size_t r = 0; r < starts.size(); ++r) {
    const Reg place = build().expr(ExprOp::shift_right, {build().add(starts[r], run.first), shift});
    const auto of_row = [&](int32_t buffer) { return build().load(buffer, place, emit_.lanes(), {.broadcast = true}); };
    const Reg scale = of_row(row_scales_buffer_), total = run.minima.empty() ? kNone : of_row(row_sums_buffer_);
    for (size_t v = 0; v < run.scales.size(); ++v) {
      const size_t k = r * run.scales.size() + v;
      const Reg products = build().expr(ExprOp::cast, {integers[k]}, DType::f32);
      const Reg sum = build().fma(products, build().mul(run.scales[v], scale), sum_of(k));
      set_sum(k, total == kNone ? sum : build().fma(run.minima[v], total, sum));
    }
  }
}

/// sum += (codes . row codes) * scale * row scale + minimum * row sum, run by run. Where a tile has no registers for both, the sums are
/// in memory while the integers are added, and a run is unrolled: LLVM would keep the integers of a loop in memory too.
std::vector<Reg> ContractLowering::contract_bytes(int rows, const Reads& at, std::vector<Reg> sums) {
  const std::vector<Reg> starts = row_starts(rows, at);
  const auto multiply = [&](Reg first, const auto& words, std::vector<Reg>& integers) {
    for (int set = 0; set < BlockUnpacker::kSteps / kCodesOfSet; ++set) {
      const std::vector<Reg> w = words(set);
      for (int r = 0; r < rows; ++r) {
        const Reg place = build().add(build().add(starts[r], first), emit_.integer(int64_t{set} * kCodesOfSet));
        const Reg a = build().load(places_.rows_buffer(), place, emit_.lanes(), {.broadcast = true, .words = true});
        for (int v = 0; v < shape_.vectors; ++v) {
          Reg& sum = integers[static_cast<size_t>(r) * shape_.vectors + v];
          sum = build().dot(w[v], a, sum);
        }
      }
    }
  };
  const Reg depth = emit_.dim(roles_.depth.back().extent);
  const size_t count = sums.size();
  if ((2 * rows + 3) * shape_.vectors < emit_.target().registers)
    return unpacker().each_run(
        at.lanes, depth, {.elements = rounded_.run, .sums = count}, std::move(sums), multiply,
        [&](const BlockUnpacker::Run& run, const std::vector<Reg>& integers, std::vector<Reg>& carried) {
          add_run(run, starts, integers, [&](size_t k) { return carried[k]; }, [&](size_t k, Reg sum) { carried[k] = sum; });
        });
  if (sums_buffer_ < 0) sums_buffer_ = build().scratch(DType::f32, slot());
  const auto place_of = [&](size_t k) { return emit_.integer(static_cast<int64_t>(k) * emit_.lanes()); };
  const auto load = [&](size_t k) { return build().load(sums_buffer_, place_of(k), emit_.lanes()); };
  const auto store = [&](size_t k, Reg sum) { build().store(sums_buffer_, place_of(k), sum); };
  for (size_t k = 0; k < count; ++k) store(k, sums[k]);
  unpacker().each_run(at.lanes, depth, {.elements = rounded_.run, .sums = count, .unrolled = true}, {}, multiply,
                      [&](const BlockUnpacker::Run& run, const std::vector<Reg>& integers, std::vector<Reg>&) {
                        add_run(run, starts, integers, load, store);
                      });
  for (size_t k = 0; k < count; ++k) sums[k] = load(k);
  return sums;
}

}  // namespace tenon::codegen
