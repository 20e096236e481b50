// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tenon::llm {

/// What a template may use in one rendering: templates come with checkpoints of strangers.
struct Limits {
  uint64_t steps = 20'000'000;         ///< evaluated expressions and statements, and 64 bytes each of the texts that are searched
  uint64_t bytes = uint64_t{1} << 30;  ///< of all values that are made, also of those that are gone
  uint64_t output = uint64_t{64} << 20;
};

}  // namespace tenon::llm
