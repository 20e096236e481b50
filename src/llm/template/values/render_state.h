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

/// Levels of containers in a value; Python's recursion ends its own writers of nested values likewise.
inline constexpr int kHighestValue = 200;

/// What a rendering has used of its limits, and what it owns.
struct RenderState {
  Limits limits;
  uint64_t steps = 0, bytes = 0;
  int depth = 0;                                       ///< of evaluations inside of each other
  std::optional<std::time_t> now;                      ///< of strftime_now; empty: the clock's
  std::vector<std::shared_ptr<Namespace>> namespaces;  ///< all of the rendering: they may hold each other

  /// Counts work. Errors: limit_exceeded.
  Result<void> step(uint64_t count = 1);
  /// Counts memory, also that of values which are gone: before it is taken, where a value may be larger than its operands. Errors:
  /// limit_exceeded.
  Result<void> take(uint64_t bytes);
  /// `count` times `size` bytes.
  Result<void> take(uint64_t count, uint64_t size);
  /// Counts the memory of a new value. Errors: limit_exceeded, also for containers that are nested too deeply.
  Result<Value> admit(Value value);
};

}  // namespace tenon::llm::jinja
