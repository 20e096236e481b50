// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/wire_reader.h"
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// In StateInfo::shape: a size that a context fixes when it first runs the state, or binds memory for it.
inline constexpr int64_t kFreeSize = -1;

/// A value that lasts between the runs of a context. All entries of an engine share it.
struct StateInfo {
  std::string name = {};  ///< unique in the engine
  DType dtype = DType::f32;
  std::vector<int64_t> shape = {};  ///< on `growing_axis` the capacity; kFreeSize where a context fixes it
  /// The axis whose size is the state's length, which is data: at most the capacity, 0 after a reset. Strides are those of the capacity.
  std::optional<uint32_t> growing_axis = {};
  /// Of a state of fixed shape: its value after a reset, row-major in the weights section. None: zeros.
  std::optional<uint64_t> initial = {};
  std::vector<std::string> dimensions = {};  ///< of a shape with free sizes, the text of each: "batch", "8". Else none.
};

/// How a program reads and replaces a state.
struct StatePort {
  uint32_t state = 0;              ///< number in ProgramTable::states
  uint32_t old_buffer = kMissing;  ///< of kind `state`: the state's memory
  /// The new value: the old buffer or an alias of it where it is written in place. Otherwise a buffer that shares bytes with no state; a
  /// run copies it into the state after its last step.
  uint32_t new_buffer = kMissing;
  /// Of growing states, both known before the first step: the line of kind state_length, and the length after the run. One above the
  /// capacity is an error before anything is written.
  std::optional<Slot> length = {}, new_length = {};
};

bool has_free_sizes(const StateInfo& state);
/// Its type as the model spells it: "f32[batch,8,..4096,64]", ".." before a capacity.
std::string state_type_text(const StateInfo& state);

/// Encodings with field numbers that never change.
void write(protozero::pbf_writer to, const StateInfo& state);
void write(protozero::pbf_writer to, const StatePort& port);
/// Throw protozero::exception where they do not decode.
StateInfo read_state(WireReader from);
StatePort read_state_port(WireReader from);

}  // namespace tenon::runtime
