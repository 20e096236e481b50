// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_fields.h"
#include "runtime/program_table.h"

namespace tenon::runtime {

namespace {

using protozero::pbf_writer;

// Field numbers are for ever: a number that is no longer written is never used again.
namespace table {
enum : uint32_t { program = 1, weight_bytes = 2, state = 3 };
}
namespace named {
enum : uint32_t { name = 1, role = 2, condition = 3, entry = 4, program = 5 };
}

void write(pbf_writer w, const NamedProgram& p) {
  w.add_string(named::name, p.name);
  w.add_uint32(named::role, static_cast<uint32_t>(p.role));
  w.add_uint32(named::condition, static_cast<uint32_t>(p.condition));
  w.add_uint32(named::entry, p.entry);
  write(pbf_writer(w, named::program), p.program);
}

Program read_program(WireReader r) {
  Program p;
  while (r.next())
    if (!read_field(r, p)) r.skip();
  return p;
}

NamedProgram read_named(WireReader r) {
  NamedProgram p;
  while (r.next()) switch (r.tag()) {
      case named::name: p.name = r.get_string(); break;
      case named::role: p.role = r.get_enum<Role>(); break;
      case named::condition: p.condition = r.get_enum<Condition>(); break;
      case named::entry: p.entry = r.get_uint32(); break;
      case named::program: p.program = read_program(r.get_message()); break;
      default: r.skip();
    }
  return p;
}

ProgramTable read_table(WireReader r) {
  ProgramTable t;
  while (r.next()) switch (r.tag()) {
      case table::program: t.programs.push_back(read_named(r.get_message())); break;
      case table::weight_bytes: t.weight_bytes = r.get_uint64(); break;
      case table::state: t.states.push_back(read_state(r.get_message())); break;
      default: r.skip();
    }
  return t;
}

}  // namespace

std::string encode(const ProgramTable& programs) {
  std::string bytes;
  pbf_writer w(bytes);
  for (const NamedProgram& p : programs.programs) write(pbf_writer(w, table::program), p);
  w.add_uint64(table::weight_bytes, programs.weight_bytes);
  for (const StateInfo& s : programs.states) write(pbf_writer(w, table::state), s);
  return bytes;
}

Result<ProgramTable> decode(std::string_view bytes) { return decoded(bytes, read_table); }

Result<ProgramTable> decode_segment(std::string_view bytes, uint32_t outer_sizes) { return decoded(bytes, read_table, outer_sizes); }

}  // namespace tenon::runtime
