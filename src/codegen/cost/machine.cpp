// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/machine.h"

namespace tenon::codegen {

double Machine::peak(const MultiplyAdd& form, const Target& target) const {
  if (form.operand == DType::bf16 && bf16 > 0) return bf16;
  if (form.products == 4 && bytes > 0) return bytes;
  const MultiplyAdd& plain = target.of_f32();
  return f32 * (form.lanes * form.products / form.cycles) / (plain.lanes * plain.products / plain.cycles);
}

Machine usual_machine(const Target& target, int threads) {
  constexpr double kGHz = 3, kBytesACycle = 28, kThird = 25, kMemory = 10, kAllMemory = 40, kExchange = 10;
  const MultiplyAdd& form = target.of_f32();
  Machine out;
  out.f32 = kGHz * 2 * form.lanes / form.cycles;
  out.second = {kGHz * kBytesACycle, kGHz * kBytesACycle * threads};
  out.third = {kThird, kThird * threads};
  out.memory = {kMemory, std::max(kMemory, std::min(kMemory * threads, kAllMemory))};
  if (threads > 1) out.exchange = out.take = kExchange * threads;
  out.start_ns = 2000;
  out.threads = threads;
  out.second_bytes = target.caches[1];
  out.third_bytes = target.caches[2] * threads;
  return out;
}

}  // namespace tenon::codegen
