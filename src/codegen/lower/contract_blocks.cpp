// SPDX-License-Identifier: Apache-2.0
// Panels of blocks: weights are unpacked as code * scale + minimum, rounded once, in registers of low tiles or before high ones.
#include "codegen/lower/contract_lowering.h"

namespace tenon::codegen {

namespace {

/// Steps of the depth whose codes of 4 bits a number has.
constexpr int kSteps = ir::Constant::PackBlocks::kCodesOfNumber;
constexpr int64_t kCacheLine = 64;

}  // namespace

ContractLowering::BlockScales ContractLowering::load_scales(Reg at) {
  const LinearBlocks& linear = *blocks_format_->linear;
  BlockScales out;
  const auto load = [&](int64_t from) {
    return build().expr(ExprOp::cast, {build().load(scales_buffer_, build().add(at, emit_.integer(from)), emit_.lanes())}, DType::f32);
  };
  for (int64_t v = 0; v < shape_.vectors; ++v) {
    out.scales.push_back(load(v * emit_.lanes()));
    if (linear.has_minimum) out.minima.push_back(load(panel() + v * emit_.lanes()));
    else if (linear.offset != 0)
      out.minima.push_back(build().mul(out.scales.back(), emit_.constant({DType::f32, 1}, *Expr::constant(DType::f32, linear.offset))));
  }
  return out;
}

std::vector<Reg> ContractLowering::weights_of(Reg codes, int step, const std::vector<Reg>& words, const BlockScales& scales) {
  const auto number = [&](int64_t value) { return emit_.constant({DType::i32, 1}, *Expr::integer(DType::i32, value)); };
  std::vector<Reg> out;
  for (int v = 0; v < shape_.vectors; ++v) {
    Reg code = kNone;
    if (words.empty()) {
      code = build().load(lanes_buffer_, build().add(codes, emit_.integer(step * panel() + int64_t{v} * emit_.lanes())), emit_.lanes());
    } else {
      code = step == 0 ? words[v] : build().expr(ExprOp::shift_right, {words[v], number(4 * step)});
      code = build().expr(ExprOp::bit_and, {code, number(15)});
    }
    const Reg value = build().expr(ExprOp::cast, {code}, DType::f32);
    out.push_back(scales.minima.empty() ? build().mul(value, scales.scales[v]) : build().fma(value, scales.scales[v], scales.minima[v]));
  }
  return out;
}

std::vector<Reg> ContractLowering::each_block_step(Reg panel_at, std::vector<Reg> carried, const BlockSteps& body) {
  const LinearBlocks& linear = *blocks_format_->linear;
  const int64_t elements = blocks_format_->elements, scales_of_block = panel() * (linear.has_minimum ? 2 : 1);
  const bool short_codes = linear.code_bits == 4;
  const int64_t codes_of_steps = short_codes ? panel() : kSteps * panel(), code_bytes = short_codes ? 4 : 1;
  const auto divided = [&](Reg a, int64_t by) { return build().expr(ExprOp::div, {a, emit_.integer(by)}); };
  const Reg first_code = short_codes ? divided(panel_at, kSteps) : panel_at;
  const Reg first_scale = build().mul(divided(panel_at, elements * panel()), emit_.integer(scales_of_block));
  const Reg one = emit_.integer(1), groups = emit_.integer(elements / kSteps);
  const auto ask_for = [&](int32_t buffer, Reg at, int64_t bytes, int64_t width, int64_t ahead) {
    for (int64_t byte = 0; ahead > 0 && byte < bytes; byte += kCacheLine)
      build().prefetch(buffer, build().add(at, emit_.integer((byte + ahead) / width)));
  };
  return build().loop(
      emit_.integer(0), divided(emit_.dim(roles_.depth.back().extent), elements), one, std::move(carried),
      [&](Reg b, const std::vector<Reg>& of_block) {
        const Reg scale_at = build().add(first_scale, build().mul(b, emit_.integer(scales_of_block)));
        ask_for(scales_buffer_, scale_at, scales_of_block * 2, 2, tactic_.prefetch / kSteps);
        const BlockScales scales = load_scales(scale_at);
        const Reg begin = build().mul(b, groups);
        return build().loop(begin, build().add(begin, groups), one, of_block, [&](Reg g, const std::vector<Reg>& inside) {
          const Reg codes = build().add(first_code, build().mul(g, emit_.integer(codes_of_steps)));
          ask_for(lanes_buffer_, codes, codes_of_steps * code_bytes, code_bytes, tactic_.prefetch);
          std::vector<Reg> words, sums = inside;
          for (int v = 0; short_codes && v < shape_.vectors; ++v)
            words.push_back(build().load(lanes_buffer_, build().add(codes, emit_.integer(int64_t{v} * emit_.lanes())), emit_.lanes()));
          body(build().mul(g, emit_.integer(kSteps)), [&](int step) { return weights_of(codes, step, words, scales); }, sums);
          return sums;
        });
      });
}

void ContractLowering::unpack_panels(const Share& share, const PanelShare& part) {
  const auto unpack = [&] {
    each_of_bundle(share, part.number, [&](Reg k) {
      const Reg to = build().mul(k, emit_.dim(panel_size()));
      each_block_step(build().add(part.task.lanes, to), {}, [&](Reg first, const auto& weights, std::vector<Reg>&) {
        const Reg row = build().add(to, build().mul(first, emit_.integer(panel())));
        for (int step = 0; step < kSteps; ++step) {
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
    for (int step = 0; step < kSteps; ++step) {
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
