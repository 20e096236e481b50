// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/cpu.h"
#include "base/dtype.h"
#include "base/result.h"

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

/// Memory that kernels read and write.
struct MemorySpace {
  std::string_view name;
  bool host = true;        ///< the host reads and writes it too
  int64_t alignment = 64;  ///< bytes, of buffers
};

/// What code is generated for, as data: one file src/codegen/targets/NAME.cpp each. Lives for ever.
struct Target {
  std::string_view name;   ///< "x86_avx512": its file
  std::string_view title;  ///< "AVX-512": for people
  uint32_t tag;            ///< of its sections in engine files; a number is never given twice
  /// What a CPU must have to run the code: names of CpuFeatures separated by blanks. Of two targets that run, the one that needs more is
  /// taken.
  std::string_view needs;
  // How the code generator is asked for it, in LLVM's words. `features` spell `needs` out: a named CPU only tunes, so that an engine's
  // bytes follow from its target alone.
  std::string_view triple, features, tuning;
  int register_bytes;           ///< of a vector register
  int registers;                ///< vector registers
  bool mask_registers = false;  ///< that say which lanes an instruction is for
  bool scales_powers = false;   ///< y * 2^floor(n) is one instruction, right to the denormals
  bool looks_up = false;        ///< each lane picks one of 32 f32 in two registers, in one instruction
  std::initializer_list<MultiplyAdd> multiply_adds;
  std::array<int64_t, 3> caches;  ///< bytes of each level that a core may count on: its own first and second, its share of the third
  std::initializer_list<MemorySpace> memory;
  /// What this one only adds instructions for further types to: code that has none of these types is the same. Null: none.
  const Target* extends = nullptr;

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
