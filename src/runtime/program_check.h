// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/program_table.h"

namespace tenon::runtime {

/// Everything that a run of one program of the table will use as an index is in range: buffers, slots, blobs, programs. Cost: linear.
bool is_sound(const Program& program, const ProgramTable& table);

/// Of all states of the table: names, types, capacities and initial values.
bool are_states_sound(const ProgramTable& table);
/// Everything that a program refers to as a state is one, of the type that it expects. The program is sound but for that. row.entry, of a
/// fallback, is in range.
bool is_state_use_sound(const NamedProgram& row, const ProgramTable& table);

/// Whether a step that is no kernel may give that value: it brings its own memory, or has elements of fixed width in memory that was laid
/// out.
bool is_writable(const BufferInfo& buffer);

}  // namespace tenon::runtime
