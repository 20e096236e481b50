// SPDX-License-Identifier: Apache-2.0
#include "codegen/cost/machine.h"

namespace tenon::codegen {

double Machine::peak(const MultiplyAdd& instruction, const Target& target) const {
  if (instruction.operand == DType::bf16 && bf16_gflops > 0) return bf16_gflops;
  if (instruction.products == 4 && int8_gflops > 0) return int8_gflops;
  const MultiplyAdd& plain = target.of_f32();
  return f32_gflops * (instruction.lanes * instruction.products / instruction.cycles) / (plain.lanes * plain.products / plain.cycles);
}

Machine default_machine(const Target& target, int threads) {
  constexpr double kGHz = 3, kL2BytesPerCycle = 28, kL3Gbps = 25, kMemoryGbps = 10, kMaxMemoryGbps = 40, kExchangeGbps = 10;
  const MultiplyAdd& instruction = target.of_f32();
  Machine out;
  out.f32_gflops = kGHz * 2 * instruction.lanes / instruction.cycles;
  out.l2_bandwidth = {kGHz * kL2BytesPerCycle, kGHz * kL2BytesPerCycle * threads};
  out.l3_bandwidth = {kL3Gbps, kL3Gbps * threads};
  out.memory_bandwidth = {kMemoryGbps, std::max(kMemoryGbps, std::min(kMemoryGbps * threads, kMaxMemoryGbps))};
  if (threads > 1) out.shared_read_gbps = out.shared_write_gbps = kExchangeGbps * threads;
  out.fork_join_ns = 2000;
  out.threads = threads;
  out.l2_bytes = target.caches[1];
  out.l3_bytes = target.caches[2] * threads;
  return out;
}

}  // namespace tenon::codegen
