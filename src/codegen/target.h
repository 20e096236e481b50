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

/// An instruction that multiplies and adds whole registers: it adds `products` neighbouring products to each of `lanes` sums. A matrix
/// instruction does so for `rows` rows at once.
struct MultiplyAdd {
  DType operand, sum;         ///< of both operands; of the sums
  DType along = DType::none;  ///< of the operand that lies along the lanes, where it differs from `operand`; none: it does not
  int lanes;                  ///< sums in a register
  int products = 1, rows = 1;
  double cycles = 0.5;  ///< reciprocal throughput: cycles from one to the next independent one
};

/// A list of them of fixed capacity, for constexpr targets.
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
  bool host = true;        ///< the host can access it too
  int64_t alignment = 64;  ///< bytes, of buffers
};

/// The fields of a target that differ from those of the target that it extends; see Target.
struct TargetExtension {
  std::string_view name, title;
  uint32_t tag;
  std::string_view own_needs, own_features;
  MultiplyAdds multiply_adds;
};

/// A target of code generation, as data: one file src/codegen/targets/NAME.cpp each. Targets have static storage.
struct Target {
  std::string_view name;   ///< "x86_avx512": its file
  std::string_view title;  ///< "AVX-512": in reports
  uint32_t tag;            ///< number of the target in engine files; never used for another target
  /// What a CPU must have to run the code, beyond that of the target that this one extends: names of CpuFeatures separated by blanks.
  std::string_view own_needs;
  // Triple, features and tuning CPU for LLVM. `own_features` lists all of `own_needs`: the named CPU only tunes, so that an engine's bytes
  // depend on its target alone. PREFETCHW (+prfchw) is the one that no CPU must have: it is a hint, which AMD has with
  // long mode (APM volume 3) and which Intel's CPUs before Broadwell decode and pass over (SDM volume 2: no exception but for a LOCK
  // prefix).
  std::string_view triple, own_features, tuning;
  int register_bytes;               ///< of a vector register
  int registers;                    ///< vector registers
  bool has_mask_registers = false;  ///< masks are in registers of their own, and most instructions take one
  bool has_scale_by_power = false;  ///< y * 2^floor(n) is one instruction, exact for denormals too
  bool has_table_lookup = false;    ///< one instruction selects one of 32 f32 in two registers for each lane
  MultiplyAdds multiply_adds;
  std::array<int64_t, 3> caches;  ///< bytes of the caches for one core: its first and second level, and its share of the third
  std::initializer_list<MemorySpace> memory;
  PlanLimits plan_limits;                         ///< of planning passes
  std::span<const std::string_view> plan_passes;  ///< names of the passes that planning runs (see passes/pipeline.h)
  /// The target to which this one only adds instructions for further types: code without these types is the same for both. Null: none.
  const Target* extends = nullptr;

  /// A target that extends this one. base: the address of this one.
  constexpr Target extended_by(const TargetExtension& own, const Target* base) const {
    Target out = *this;
    out.name = own.name, out.title = own.title, out.tag = own.tag, out.own_needs = own.own_needs, out.own_features = own.own_features;
    out.multiply_adds = multiply_adds + own.multiply_adds;
    out.extends = base;
    return out;
  }
  /// own_needs (own_features), and those of all targets that it extends. Of two targets that a CPU can run, the one that needs more is
  /// chosen.
  std::string needs() const;
  std::string features() const;
  /// The instruction for operands of these dtypes (of the rows, along the lanes) and sums of that; null: there is none.
  const MultiplyAdd* multiply_add(DType rows, DType along, DType sum) const;
  /// The instruction for f32, which every target has.
  const MultiplyAdd& of_f32() const { return *multiply_add(DType::f32, DType::f32, DType::f32); }
  /// Elements of that dtype in a register.
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
