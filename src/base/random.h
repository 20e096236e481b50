// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace tenon::inline base {

/// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// A number follows from where it is drawn, never from what was drawn before: results depend on no number of threads and no order.
///
/// One layout for every use. The key is the seed of the run (64 bits). The counter, from word 0 on:
///
///     word 0   element, bits 0 to 31
///     word 1   element, bits 32 to 47, below step, bits 32 to 47
///     word 2   step, bits 0 to 31
///     word 3   stream
///
/// stream: the random node, numbered in source order; or the sequence that is generated.
/// step: 0 outside of loops, k + 1 in iteration k of the loop around the node; or the position in the sequence.
/// element: the row-major number of the element in the result.
/// Each element has a block of four words of its own.
using RandomBlock = std::array<uint32_t, 4>;

RandomBlock philox(uint64_t key, const RandomBlock& counter);

/// What the numbers of a run depend on besides stream and element.
struct RandomScope {
  uint64_t seed = 0;
  uint64_t path = 0;  ///< hash of the iterations of all loops around the innermost one; 0: none
  uint64_t step = 0;

  /// The scope of iteration `iteration` of a loop in this one.
  RandomScope in_iteration(uint64_t iteration) const;
  RandomBlock block(uint32_t stream, uint64_t element) const;
};

/// Uniform in [0, 1), 53 bits, of words 0 and 1.
double uniform_of(const RandomBlock& block);
/// Normal with mean 0 and deviation 1 (Box and Muller), of all four words.
double normal_of(const RandomBlock& block);

/// A seed that no earlier call in this process gave, nor, but for chance, another process.
uint64_t fresh_seed();

}  // namespace tenon::inline base
