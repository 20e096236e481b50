// SPDX-License-Identifier: Apache-2.0
// Bits: Intel SDM volume 2, CPUID; volume 1, 13.3 (XCR0).
#include "base/cpu.h"

#include <cpuid.h>

#include <cstdint>

namespace tenon::inline base {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf, unsigned part) {
  Registers r;
  if (__get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

bool bit(unsigned word, int index) { return (word >> index) & 1; }

/// Which registers the system saves; 0 where it saves none of the extended ones.
uint64_t saved_state() {
  if (!bit(cpuid(1, 0).c, 27)) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

CpuFeatures detect() {
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6;
  const uint64_t saved = saved_state();
  const bool ymm = (saved & kYmm) == kYmm, zmm = (saved & kZmm) == kZmm;
  const Registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = cpuid(7, 1);
  CpuFeatures f;
  f.avx2 = ymm && bit(seven.b, 5);
  f.fma = ymm && bit(one.c, 12);
  f.f16c = ymm && bit(one.c, 29);
  f.bmi2 = bit(seven.b, 8);
  f.avx512f = zmm && bit(seven.b, 16);
  f.avx512dq = zmm && bit(seven.b, 17);
  f.avx512cd = zmm && bit(seven.b, 28);
  f.avx512bw = zmm && bit(seven.b, 30);
  f.avx512vl = zmm && bit(seven.b, 31);
  f.avx512_vnni = zmm && bit(seven.c, 11);
  f.avx512_bf16 = zmm && bit(seven_one.a, 5);
  return f;
}

}  // namespace

std::string CpuFeatures::text() const {
  struct Named {
    bool there;
    const char* name;
  };
  std::string out;
  for (const Named& f : {Named{avx2, "AVX2"}, Named{fma, "FMA"}, Named{f16c, "F16C"}, Named{bmi2, "BMI2"}, Named{avx512f, "AVX-512 F"},
                         Named{avx512bw, "BW"}, Named{avx512vl, "VL"}, Named{avx512dq, "DQ"}, Named{avx512cd, "CD"}})
    if (f.there) out += (out.empty() ? "" : ", ") + std::string(f.name);
  return out.empty() ? "neither AVX2 nor AVX-512" : out;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

}  // namespace tenon::inline base
