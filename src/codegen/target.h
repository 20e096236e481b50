// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/cpu.h"
#include "base/dtype.h"
#include "base/result.h"
#include "codegen/plan_limits.h"

namespace tenon::codegen {

/// An instruction that multiplies and adds whole registers: each of `lanes` sums takes `products` neighbouring products. A matrix
/// instruction does `rows` of these at once.
struct MultiplyAdd {
  DType operand, sum;
  DType along = DType::none;  ///< of the operand that lies along the lanes, where it is another than `operand`
  int lanes;
  int products = 1, rows = 1;
  double cycles = 0.5;  ///< from one to the next, where nothing waits
};

/// Some of them, by value.
class MultiplyAdds {
 public:
  constexpr MultiplyAdds(std::initializer_list<MultiplyAdd> all) {
    for (const MultiplyAdd& m : all) all_[count_++] = m;
  }
  constexpr MultiplyAdds operator+(const MultiplyAdds& more) const {
    MultiplyAdds out = *this;
    for (const MultiplyAdd& m : more) out.all_[out.count_++] = m;
    return out;
  }
  constexpr const MultiplyAdd* begin() const { return all_.data(); }
  constexpr const MultiplyAdd* end() const { return all_.data() + count_; }

 private:
  std::array<MultiplyAdd, 8> all_ = {};
  size_t count_ = 0;
};

/// Memory that kernels read and write.
struct MemorySpace {
  std::string_view name;
  bool host = true;        ///< the host reads and writes it too
  int64_t alignment = 64;  ///< bytes, of buffers
};

/// What a target has that the one which it extends lacks; see Target.
struct TargetExtension {
  std::string_view name, title;
  uint32_t tag;
  std::string_view own_needs, own_features;
  MultiplyAdds multiply_adds;
};

/// What code is generated for, as data: one file src/codegen/targets/NAME.cpp each. Lives for ever.
struct Target {
  std::string_view name;   ///< "x86_avx512": its file
  std::string_view title;  ///< "AVX-512": for people
  uint32_t tag;            ///< of its sections in engine files; a number is never given twice
  /// What a CPU must have to run the code, beyond that of the target that this one extends: names of CpuFeatures separated by blanks.
  std::string_view own_needs;
  // What the code generator gets, in LLVM's terms. `own_features` spell `own_needs` out: a named CPU only tunes, so that an
  // engine's bytes follow from its target alone. PREFETCHW (+prfchw) is the one that no CPU must have: it is a hint, which AMD has with
  // long mode (APM volume 3) and which Intel's CPUs before Broadwell decode and pass over (SDM volume 2: no exception but for a LOCK
  // prefix).
  std::string_view triple, own_features, tuning;
  int register_bytes;           ///< of a vector register
  int registers;                ///< vector registers
  bool mask_registers = false;  ///< that say which lanes an instruction is for
  bool scales_powers = false;   ///< y * 2^floor(n) is one instruction, right to the denormals
  bool looks_up = false;        ///< each lane picks one of 32 f32 in two registers, in one instruction
  MultiplyAdds multiply_adds;
  std::array<int64_t, 3> caches;  ///< bytes of each level that a core may count on: its own first and second, its share of the third
  std::initializer_list<MemorySpace> memory;
  PlanLimits plan_limits;                         ///< what planning goes by
  std::span<const std::string_view> plan_passes;  ///< names of those that planning runs for it (see passes/pipeline.h)
  /// What this one only adds instructions for further types to: code that has none of these types is the same. Null: none.
  const Target* extends = nullptr;

  /// The target that extends this one, registered as `base`.
  constexpr Target extended_by(const TargetExtension& own, const Target* base) const {
    Target out = *this;
    out.name = own.name, out.title = own.title, out.tag = own.tag, out.own_needs = own.own_needs, out.own_features = own.own_features;
    out.multiply_adds = multiply_adds + own.multiply_adds;
    out.extends = base;
    return out;
  }
  /// With those of what it extends. Of two targets that run, the one that needs more is taken.
  std::string needs() const;
  std::string features() const;
  /// The instruction for these types of operands (of the rows, along the lanes) and sums; null: there is none.
  const MultiplyAdd* multiply_add(DType rows, DType along, DType sum) const;
  /// That of f32, which every target has.
  const MultiplyAdd& of_f32() const { return *multiply_add(DType::f32, DType::f32, DType::f32); }
  /// Elements of that type in a register.
  int lanes(DType dtype = DType::f32) const { return register_bytes * 8 / bits_of(dtype); }
};

/// `TARGET(x86_avx2) {.name = "x86_avx2", ...};` in src/codegen/targets/x86_avx2.cpp. The folder listing is the registration.
#define TARGET(IDENT)                                   \
  extern const ::tenon::codegen::Target target_##IDENT; \
  constinit const ::tenon::codegen::Target target_##IDENT

/// All of them, sorted by name.
std::span<const Target* const> all_targets();
/// Errors: bad_usage with the names that there are.
Result<const Target*> target_named(std::string_view name);
/// The best that a CPU of these features runs. Errors: wrong_target.
Result<const Target*> target_for(const CpuFeatures& cpu = cpu_features());

}  // namespace tenon::codegen
