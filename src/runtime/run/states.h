// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "runtime/program_table.h"
#include "runtime/run/memory.h"

namespace tenon::runtime {

/// The memory of a context's states, which all of its programs share. Functions take the number of a state in ProgramTable::states.
class States {
 public:
  /// weights: of the engine; both outlive it.
  States(std::span<const StateInfo> infos, const std::byte* weights);

  std::span<const StateInfo> infos() const { return infos_; }
  /// The state with the sizes that it has in this context: a free one is 0 until it is fixed.
  const StateInfo& info(uint32_t state) const { return values_[state].info; }
  /// Fixes free sizes of a state for which check_shape() holds, and makes memory for it. shape: with the capacity. Errors: out_of_memory,
  /// which fixes nothing.
  Result<void> fix_shape(uint32_t state, const Sizes& shape);
  /// Errors: bad_input where the state has elements of another shape, bad_input for sizes below 0 and size_overflow.
  Result<void> check_shape(uint32_t state, const Sizes& shape) const;
  /// Errors: bad_input where a run that failed has left part of a new value.
  Result<void> check_valid(uint32_t state) const;
  /// Memory for the state, which holds its initial value where it is new. Errors: out_of_memory; bad_input where a run that failed has left
  /// part of a new value.
  Result<void> prepare(uint32_t state);
  /// 64-byte aligned, followed by kSlack readable bytes, unless bound. Null before prepare().
  std::byte* data(uint32_t state) const { return values_[state].data; }
  /// Of a growing state; 0 for others.
  int64_t length(uint32_t state) const { return values_[state].length; }
  void set_length(uint32_t state, int64_t length) { values_[state].length = length; }
  /// Whether it holds a whole value, and not part of what a failed run has written.
  bool is_valid(uint32_t state) const { return values_[state].is_valid; }
  void set_valid(uint32_t state, bool is_valid) { values_[state].is_valid = is_valid; }

  /// Makes the state use memory of the caller, of its type and capacity, whose contents become its value; an empty handle ends that.
  /// length: of a growing state. The shape of the memory fixes free sizes. Errors: bad_input (another type, elements that are not aligned,
  /// a length over the capacity); bad_usage (bound already, memory that overlaps another state's).
  Result<void> bind(uint32_t state, const Tensor& memory, int64_t length);
  /// Sets the initial value (of a growing state: length 0). Free sizes become free again, except in memory of the caller.
  void reset(uint32_t state);
  /// Makes a growing state shorter. Errors: bad_input, bad_usage.
  Result<void> truncate(uint32_t state, int64_t length);
  /// A copy of the value: of a growing state, its rows up to the length. Errors: as prepare().
  Result<Tensor> value(uint32_t state);
  /// Sets all states: one value a state, of its type. Errors: out_of_memory, bad_input (bound memory of another shape), before
  /// anything is changed but for states with free sizes, which have no value then.
  Result<void> assign(std::span<const Tensor> values);
  /// A copy of all states, in memory of its own. Errors: as prepare().
  Result<std::unique_ptr<States>> copy();

 private:
  struct Value {
    Block memory;
    Tensor bound;
    std::byte* data = nullptr;
    int64_t length = 0;
    bool is_valid = true;
    StateInfo info = {};
  };
  Result<void> reserve(uint32_t state);
  void set_initial(uint32_t state);
  void free_sizes(uint32_t state);
  Result<void> check_overlap(uint32_t state, const Tensor& memory) const;

  std::span<const StateInfo> infos_;
  const std::byte* weights_;
  std::vector<Value> values_;
};

/// "state 'cache'", for errors.
std::string state_place(const StateInfo& state);
/// Bytes of a state with its capacity.
uint64_t bytes_of(const StateInfo& state);
/// The shape of a growing state at that length; of other states their shape.
Sizes shape_at(const StateInfo& state, int64_t length);
/// Copies the rows of a growing state between memory with its strides and memory without gaps, or all of another.
void gather_state(const StateInfo& state, int64_t length, const std::byte* from, std::byte* dense);
void scatter_state(const StateInfo& state, int64_t length, const std::byte* dense, std::byte* to);

}  // namespace tenon::runtime
