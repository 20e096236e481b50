// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tenon::llm {

/// Limits of one rendering: templates come with checkpoints that may be hostile.
struct Limits {
  uint64_t steps = 20'000'000;           ///< evaluated expressions and statements, and 64 bytes each of the texts that are searched
  uint64_t bytes = uint64_t{1} << 30;    ///< total memory of all values, also of those that are freed already
  uint64_t output = uint64_t{64} << 20;  ///< bytes of the rendered text
};

}  // namespace tenon::llm
