// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/program_table.h"

namespace tenon::runtime {

/// Whether everything that a run of the program uses as an index is in range: buffers, slots, blobs, programs. Cost: linear.
bool is_sound(const Program& program, const ProgramTable& table);

/// Whether names, types, capacities and initial values of all states of the table are valid.
bool are_states_sound(const ProgramTable& table);
/// Whether all states that the program refers to exist and have the types that it expects. Call it after is_sound(program); row.entry, of a
/// fallback, must be in range.
bool is_state_use_sound(const NamedProgram& row, const ProgramTable& table);

/// Whether a step that is no kernel may have the buffer as a result: it is dynamic, or has elements of fixed width in memory that was laid
/// out.
bool is_writable(const BufferInfo& buffer);

}  // namespace tenon::runtime
