// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"
#include "runtime/program_table.h"

namespace tenon::runtime {

/// The numbered fields of one program.
void write(protozero::pbf_writer to, const Program& program);
/// Reads the field at which `from` is into the program. False: it is no field of a program, and was not read. Throws protozero::exception
/// where it does not decode.
bool read_field(WireReader& from, Program& program);

/// The table that `read` makes of the bytes of an engine's section. Errors: bad_file where it throws, or the table is not sound.
/// outer_sizes: as of is_sound.
Result<ProgramTable> decoded(std::string_view bytes, ProgramTable (*read)(WireReader), uint32_t outer_sizes = 0);

}  // namespace tenon::runtime
