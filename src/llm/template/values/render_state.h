// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "llm/template/values/limits.h"
#include "llm/template/values/value.h"

namespace tenon::llm::jinja {

/// Most levels of nested containers in a value; Python's recursion limit bounds the same.
inline constexpr int kHighestValue = 200;

/// The state of one rendering: its use of the limits, and values that it owns.
struct RenderState {
  Limits limits;
  uint64_t steps = 0, bytes = 0;
  int depth = 0;                   ///< current nesting of evaluations
  std::optional<std::time_t> now;  ///< the time for strftime_now; empty: the system clock
  std::vector<std::shared_ptr<Namespace>>
      namespaces;  ///< all namespaces: they are cleared at the end, because they may refer to each other

  /// Counts work. Errors: limit_exceeded.
  Result<void> step(uint64_t count = 1);
  /// Counts memory; memory of freed values is not subtracted. To be called before the allocation where a value may be larger than its
  /// operands. Errors: limit_exceeded.
  Result<void> take(uint64_t bytes);
  /// `count` times `size` bytes.
  Result<void> take(uint64_t count, uint64_t size);
  /// Counts the memory of a new value. Errors: limit_exceeded, also for containers that are nested too deeply.
  Result<Value> admit(Value value);
};

}  // namespace tenon::llm::jinja
