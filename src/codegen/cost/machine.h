// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "codegen/target.h"

namespace tenon::codegen {

/// GB/s that are read.
struct Bandwidth {
  double one = 0;  ///< by one core alone
  double all = 0;  ///< by all threads together
  double of(int threads, int of_all) const { return threads >= of_all ? all : std::min(all, one * threads); }
};

/// What a machine can do, as predict() counts with it. Nothing that a build chooses depends on it.
struct Machine {
  double f32 = 0;              ///< GFLOP/s of one core's multiply-adds on registers
  double bf16 = 0, bytes = 0;  ///< of pairs of bf16 and of fours of bytes; 0: the CPU has none
  Bandwidth second, third, memory;
  double exchange = 0;  ///< GB/s, of all threads together: reads of what another core has just written; 0: there is one thread
  double take = 0;      ///< likewise of writes over it
  double start_ns = 0;  ///< of a region of all threads: to begin and to end it
  int threads = 1;
  int64_t second_bytes = 0, third_bytes = 0;  ///< caches: of a core, and of all together

  /// GFLOP/s of one core with that instruction of the target.
  double peak(const MultiplyAdd& form, const Target& target) const;
};

/// Where nobody measured: a server core of 2020 at 3 GHz, with the registers and caches of the target.
Machine usual_machine(const Target& target, int threads);

}  // namespace tenon::codegen
