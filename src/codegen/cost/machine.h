// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "codegen/target.h"

namespace tenon::codegen {

/// Read bandwidth of one level of memory, in GB/s.
struct Bandwidth {
  double one_core = 0;   ///< while one core alone reads
  double all_cores = 0;  ///< the sum while all threads of the machine read
  /// The sum of `threads` of `all_threads` threads.
  double of(int threads, int all_threads) const { return threads >= all_threads ? all_cores : std::min(all_cores, one_core * threads); }
};

/// Speed and size of a machine, for predict(). `tenon calibrate` measures it; nothing that a build chooses depends on it.
struct Machine {
  double f32_gflops = 0;                 ///< peak of one core's f32 multiply-adds on registers
  double bf16_gflops = 0;                ///< peak of one core's instruction for pairs of bf16; 0: the CPU has none
  double int8_gflops = 0;                ///< peak of one core's instruction for groups of 4 bytes, in 10^9 operations/s; 0: none
  Bandwidth l2_bandwidth, l3_bandwidth;  ///< of the second-level and third-level cache
  Bandwidth memory_bandwidth;            ///< of main memory
  double shared_read_gbps = 0;           ///< GB/s of all threads together that read what another core just wrote; 0: one thread
  double shared_write_gbps = 0;          ///< GB/s of all threads together that overwrite what another core just wrote; 0: one thread
  double fork_join_ns = 0;               ///< time to start a parallel region on all threads and to wait for its end
  int threads = 1;                       ///< that run kernels
  int64_t l2_bytes = 0;                  ///< size of one core's second-level cache
  int64_t l3_bytes = 0;                  ///< size of all third-level caches together

  /// Peak of one core with that instruction of the target, in GFLOP/s.
  double peak(const MultiplyAdd& instruction, const Target& target) const;
};

/// Estimates for a machine that was not measured: a server core of 2020 at 3 GHz, with the registers and caches of the target.
Machine default_machine(const Target& target, int threads);

}  // namespace tenon::codegen
