// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "llm/template/values/value.h"

namespace tenon::llm::jinja {

/// The variable `loop` of a for statement. Items are fetched lazily, so that evaluations of the loop's condition alternate with those of
/// the body, as in Jinja2.
class Loop {
 public:
  using Source = std::function<Result<std::optional<Value>>()>;  ///< the next item; empty at the end
  /// count: of the items; empty where a condition selects them.
  Loop(Source source, std::optional<int64_t> count, int64_t depth) : source_(std::move(source)), length_(count), depth_(depth) {}

  /// Goes to the next item; false at the end.
  Result<bool> advance();
  const Value& current() const { return current_; }
  /// To be called after the for statement, when `source` is no longer valid.
  void close() { source_ = nullptr; }

  Result<int64_t> length();
  /// loop.index and the others. Absent for other names.
  Result<Value> attribute(std::string_view name);
  /// loop.changed(values)
  bool changed(std::vector<Value> values);
  int64_t index0() const { return index0_; }
  std::string description();

 private:
  Result<const std::optional<Value>*> peek();
  Source source_;
  std::optional<int64_t> length_;
  int64_t depth_, index0_ = -1;
  Value before_, current_;
  std::vector<std::optional<Value>> ahead_;  ///< items that were fetched and not yet visited; an empty one: the end
  size_t next_ahead_ = 0;                    ///< index of the next one in ahead_
  std::optional<std::vector<Value>> last_changed_;
};

/// Methods of a loop: cycle and changed. Absent for other names.
Value loop_method(const std::shared_ptr<Loop>& loop, std::string_view name);

}  // namespace tenon::llm::jinja
