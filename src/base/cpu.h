// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tenon::inline base {

/// Instruction sets that both the CPU has and the system saves the registers of, by the names that Linux gives them ("avx2", "avx512f",
/// "amx_bf16", ...). Nothing else decides what code runs.
class CpuFeatures {
 public:
  CpuFeatures() = default;
  CpuFeatures(std::initializer_list<std::string_view> names);
  /// false also for an unknown name.
  bool has(std::string_view name) const;
  /// Names separated by blanks. false where there is none: code that does not say what it needs runs nowhere.
  bool has_all(std::string_view names) const;
  /// Asserts that the name is known.
  void set(std::string_view name, bool there = true);
  /// "avx2, fma", or "none that generated code uses".
  std::string text() const;

 private:
  uint32_t bits_ = 0;
};

/// How many names are in a list separated by blanks.
int feature_count(std::string_view names);
/// Reads cpuid and xgetbv, once.
const CpuFeatures& cpu_features();

}  // namespace tenon::inline base
