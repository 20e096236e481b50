// SPDX-License-Identifier: Apache-2.0
// Bits: Intel SDM volume 2, CPUID; volume 1, 13.3 (XCR0).
#include "base/cpu.h"

#include <cpuid.h>

#include <array>
#include <cstdint>

#include "base/result.h"

namespace tenon::inline base {
namespace {

constexpr std::array<std::string_view, 15> kNames = {"avx2",        "fma",         "f16c",     "bmi2",     "avx512f",
                                                     "avx512bw",    "avx512vl",    "avx512dq", "avx512cd", "avx_vnni",
                                                     "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16"};

uint32_t bit_of(std::string_view name) {
  for (size_t k = 0; k < kNames.size(); ++k)
    if (kNames[k] == name) return uint32_t{1} << k;
  return 0;
}

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
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
  const uint64_t saved = saved_state();
  const bool ymm = (saved & kYmm) == kYmm, zmm = (saved & kZmm) == kZmm, tiles = (saved & kTiles) == kTiles;
  const Registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = cpuid(7, 1);
  CpuFeatures f;
  f.set("avx2", ymm && bit(seven.b, 5));
  f.set("fma", ymm && bit(one.c, 12));
  f.set("f16c", ymm && bit(one.c, 29));
  f.set("bmi2", bit(seven.b, 8));
  f.set("avx512f", zmm && bit(seven.b, 16));
  f.set("avx512dq", zmm && bit(seven.b, 17));
  f.set("avx512cd", zmm && bit(seven.b, 28));
  f.set("avx512bw", zmm && bit(seven.b, 30));
  f.set("avx512vl", zmm && bit(seven.b, 31));
  f.set("avx_vnni", ymm && bit(seven_one.a, 4));
  f.set("avx512_vnni", zmm && bit(seven.c, 11));
  f.set("avx512_bf16", zmm && bit(seven_one.a, 5));
  f.set("amx_bf16", tiles && bit(seven.d, 22));
  f.set("amx_tile", tiles && bit(seven.d, 24));
  f.set("amx_int8", tiles && bit(seven.d, 25));
  return f;
}

}  // namespace

CpuFeatures::CpuFeatures(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) set(name);
}

bool CpuFeatures::has(std::string_view name) const { return (bits_ & bit_of(name)) != 0; }

bool CpuFeatures::has_all(std::string_view names) const {
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    if (end > at && !has(names.substr(at, end - at))) return false;
    at = end + 1;
  }
  return feature_count(names) > 0;
}

int feature_count(std::string_view names) {
  int count = 0;
  for (size_t k = 0; k < names.size(); ++k) count += names[k] != ' ' && (k == 0 || names[k - 1] == ' ');
  return count;
}

void CpuFeatures::set(std::string_view name, bool there) {
  const uint32_t bit = bit_of(name);
  TENON_ASSERT(bit != 0);
  bits_ = there ? bits_ | bit : bits_ & ~bit;
}

std::string CpuFeatures::text() const {
  std::string out;
  for (const std::string_view name : kNames)
    if (has(name)) out.append(out.empty() ? "" : ", ").append(name);
  return out.empty() ? "none that generated code uses" : out;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

}  // namespace tenon::inline base
