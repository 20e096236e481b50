// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_fields.h"

namespace tenon::runtime {

namespace {

using protozero::pbf_writer;

using Reader = WireReader;

// Field numbers are for ever: a number that is no longer written is never used again.
namespace line {
enum : uint32_t { kind = 1, constant = 2, a = 3, b = 4, c = 5 };
}
namespace buffer {
enum : uint32_t {
  kind = 1,
  dtype = 2,
  shape = 3,
  index = 4,
  offset = 5,
  first = 6,
  last = 7,
  name = 8,
  unranked = 9,
  container = 10,
  units = 11
};
}
namespace container {
enum : uint32_t { kind = 1, sizes = 2, unranked = 3, key = 4 };
}
namespace guard {
enum : uint32_t { kind = 1, a = 2, b = 3, where = 4, what = 5, a_text = 6, b_text = 7 };
}
namespace port {
enum : uint32_t {
  name = 1,
  dtype = 2,
  shape = 3,
  dimension = 4,
  lower = 5,
  upper = 6,
  buffer = 7,
  limit = 8,
  container = 9,
  default_value = 10
};
}
namespace default_value {
enum : uint32_t { offset = 1, shape = 2 };
}
namespace blob {
enum : uint32_t { device = 1, bytes = 2, graphs = 3 };
}
namespace program {
enum : uint32_t {
  line = 1,
  input_lines = 2,
  buffer = 3,
  step = 4,
  input = 5,
  output = 6,
  guard = 10,
  blob = 11,  // 7 to 9 and 12 to 15: of nested programs (nested_programs.cpp)
  state = 16
};
}

template <class List>
void add_list(pbf_writer& w, uint32_t field, const List& list) {
  w.add_packed_uint32(field, list.begin(), list.end());
}

void write(pbf_writer w, const SizeLine& l) {
  w.add_uint32(line::kind, static_cast<uint32_t>(l.kind));
  if (l.constant != 0) w.add_sint64(line::constant, l.constant);
  w.add_uint32(line::a, l.a);
  w.add_uint32(line::b, l.b);
  w.add_uint32(line::c, l.c);
}

void write(pbf_writer w, const ContainerInfo& h) {
  w.add_uint32(container::kind, static_cast<uint32_t>(h.kind));
  w.add_packed_sint64(container::sizes, h.sizes.begin(), h.sizes.end());
  if (h.unranked) w.add_uint32(container::unranked, 1);
  if (h.key != DType::none) w.add_uint32(container::key, static_cast<uint32_t>(h.key));
}

void write(pbf_writer w, const BufferInfo& b) {
  w.add_uint32(buffer::kind, static_cast<uint32_t>(b.kind));
  w.add_uint32(buffer::dtype, static_cast<uint32_t>(b.dtype));
  add_list(w, buffer::shape, b.shape);
  w.add_uint32(buffer::index, b.index);
  w.add_uint64(buffer::offset, b.offset);
  w.add_uint32(buffer::first, b.first);
  w.add_uint32(buffer::last, b.last);
  w.add_string(buffer::name, b.name);
  if (b.unranked) w.add_uint32(buffer::unranked, 1);
  if (b.units) w.add_uint32(buffer::units, *b.units);
  if (b.container.kind != ValueKind::tensor) write(pbf_writer(w, buffer::container), b.container);
}

void write(pbf_writer w, const Guard& g) {
  w.add_uint32(guard::kind, static_cast<uint32_t>(g.kind));
  w.add_uint32(guard::a, g.a);
  w.add_uint32(guard::b, g.b);
  w.add_string(guard::where, g.where);
  w.add_string(guard::what, g.what);
  w.add_string(guard::a_text, g.a_text);
  w.add_string(guard::b_text, g.b_text);
}

void write(pbf_writer w, const Step& s) {
  std::visit([&](const auto& kind) { w.add_uint32(step_field::kind, kind.kNumber); }, s.kind);
  add_list(w, step_field::buffers, s.buffers);
  add_list(w, step_field::results, s.results);
  add_list(w, step_field::sizes, s.sizes);
  w.add_uint32(step_field::lines, s.lines);
  for (const Step::Binding& b : s.bindings) add_list(w, step_field::binding, std::vector<uint32_t>{b.slot, b.result, b.axis});
  w.add_string(step_field::label, s.label);
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.write(w); }) kind.write(w);
      },
      s.kind);
}

void write(pbf_writer w, const Blob& b) {
  w.add_string(blob::device, b.device);
  w.add_string(blob::bytes, b.bytes);
  add_list(w, blob::graphs, b.graphs);
}

void write(pbf_writer w, const DefaultValue& d) {
  w.add_uint64(default_value::offset, d.offset);
  w.add_packed_sint64(default_value::shape, d.shape.begin(), d.shape.end());
}

void write(pbf_writer w, const PortInfo& p) {
  w.add_string(port::name, p.name);
  w.add_uint32(port::dtype, static_cast<uint32_t>(p.dtype));
  add_list(w, port::shape, p.shape);
  for (const std::string& d : p.dimensions) w.add_string(port::dimension, d);
  w.add_packed_sint64(port::lower, p.lower.begin(), p.lower.end());
  w.add_packed_sint64(port::upper, p.upper.begin(), p.upper.end());
  w.add_uint32(port::buffer, p.buffer);
  for (const ElementLimit& l : p.limits) add_list(w, port::limit, std::vector<uint32_t>{l.extent, l.from_end});
  if (p.container.kind != ValueKind::tensor) write(pbf_writer(w, port::container), p.container);
  if (p.default_value) write(pbf_writer(w, port::default_value), *p.default_value);
}

template <class T, class Range>
std::vector<T> list_of(const Range& range) {
  return {range.begin(), range.end()};
}

SizeLine read_line(Reader r) {
  SizeLine l;
  while (r.next()) switch (r.tag()) {
      case line::kind: l.kind = r.get_enum<SizeLine::Kind>(); break;
      case line::constant: l.constant = r.get_sint64(); break;
      case line::a: l.a = r.get_uint32(); break;
      case line::b: l.b = r.get_uint32(); break;
      case line::c: l.c = r.get_uint32(); break;
      default: r.skip();
    }
  return l;
}

ContainerInfo read_container(Reader r) {
  ContainerInfo h;
  while (r.next()) switch (r.tag()) {
      case container::kind: h.kind = r.get_enum<ValueKind>(); break;
      case container::sizes: h.sizes = list_of<int64_t>(r.get_packed_sint64()); break;
      case container::unranked: h.unranked = r.get_uint32() != 0; break;
      case container::key: h.key = r.get_enum<DType>(); break;
      default: r.skip();
    }
  return h;
}

BufferInfo read_buffer(Reader r) {
  BufferInfo b;
  while (r.next()) switch (r.tag()) {
      case buffer::kind: b.kind = r.get_enum<BufferInfo::Kind>(); break;
      case buffer::dtype: b.dtype = r.get_enum<DType>(); break;
      case buffer::shape: b.shape = list_of<Slot>(r.get_packed_uint32()); break;
      case buffer::index: b.index = r.get_uint32(); break;
      case buffer::offset: b.offset = r.get_uint64(); break;
      case buffer::first: b.first = r.get_uint32(); break;
      case buffer::last: b.last = r.get_uint32(); break;
      case buffer::name: b.name = r.get_string(); break;
      case buffer::unranked: b.unranked = r.get_uint32() != 0; break;
      case buffer::units: b.units = r.get_uint32(); break;
      case buffer::container: b.container = read_container(r.get_message()); break;
      default: r.skip();
    }
  return b;
}

Guard read_guard(Reader r) {
  Guard g;
  while (r.next()) switch (r.tag()) {
      case guard::kind: g.kind = r.get_enum<Guard::Kind>(); break;
      case guard::a: g.a = r.get_uint32(); break;
      case guard::b: g.b = r.get_uint32(); break;
      case guard::where: g.where = r.get_string(); break;
      case guard::what: g.what = r.get_string(); break;
      case guard::a_text: g.a_text = r.get_string(); break;
      case guard::b_text: g.b_text = r.get_string(); break;
      default: r.skip();
    }
  return g;
}

/// The kind of that number, its fields still to be read. Throws where there is none.
template <size_t K = 0>
StepKind kind_numbered(uint32_t number) {
  if constexpr (K == std::variant_size_v<StepKind>) {
    throw protozero::invalid_tag_exception();
  } else {
    using Kind = std::variant_alternative_t<K, StepKind>;
    return Kind::kNumber == number ? StepKind(Kind()) : kind_numbered<K + 1>(number);
  }
}

StepKind kind_of(Reader r) {
  uint32_t number = KernelStep::kNumber;
  while (r.next())
    if (r.tag() == step_field::kind) number = r.get_uint32();
    else r.skip();
  return kind_numbered(number);
}

bool read_own_field(Reader& r, StepKind& kind) {
  return std::visit(
      [&](auto& k) {
        if constexpr (requires { k.read(r); }) return k.read(r);
        else return false;
      },
      kind);
}

Step read_step(Reader r) {
  Step s;
  s.kind = kind_of(r);
  while (r.next()) switch (r.tag()) {
      case step_field::buffers: s.buffers = list_of<uint32_t>(r.get_packed_uint32()); break;
      case step_field::results: s.results = list_of<uint32_t>(r.get_packed_uint32()); break;
      case step_field::sizes: s.sizes = list_of<Slot>(r.get_packed_uint32()); break;
      case step_field::lines: s.lines = r.get_uint32(); break;
      case step_field::binding: {
        const auto v = list_of<uint32_t>(r.get_packed_uint32());
        if (v.size() == 3) s.bindings.push_back({v[0], v[1], v[2]});
        break;
      }
      case step_field::label: s.label = r.get_string(); break;
      default:
        if (!read_own_field(r, s.kind)) r.skip();
    }
  return s;
}

Blob read_blob(Reader r) {
  Blob b;
  while (r.next()) switch (r.tag()) {
      case blob::device: b.device = r.get_string(); break;
      case blob::bytes: b.bytes = r.get_string(); break;
      case blob::graphs: b.graphs = list_of<uint32_t>(r.get_packed_uint32()); break;
      default: r.skip();
    }
  return b;
}

DefaultValue read_default(Reader r) {
  DefaultValue d;
  while (r.next()) switch (r.tag()) {
      case default_value::offset: d.offset = r.get_uint64(); break;
      case default_value::shape: d.shape = list_of<int64_t>(r.get_packed_sint64()); break;
      default: r.skip();
    }
  return d;
}

PortInfo read_port(Reader r) {
  PortInfo p;
  while (r.next()) switch (r.tag()) {
      case port::name: p.name = r.get_string(); break;
      case port::dtype: p.dtype = r.get_enum<DType>(); break;
      case port::shape: p.shape = list_of<Slot>(r.get_packed_uint32()); break;
      case port::dimension: p.dimensions.push_back(r.get_string()); break;
      case port::lower: p.lower = list_of<int64_t>(r.get_packed_sint64()); break;
      case port::upper: p.upper = list_of<int64_t>(r.get_packed_sint64()); break;
      case port::buffer: p.buffer = r.get_uint32(); break;
      case port::limit: {
        const auto v = list_of<uint32_t>(r.get_packed_uint32());
        if (v.size() == 2) p.limits.push_back({v[0], v[1] != 0});
        break;
      }
      case port::container: p.container = read_container(r.get_message()); break;
      case port::default_value: p.default_value = read_default(r.get_message()); break;
      default: r.skip();
    }
  return p;
}

}  // namespace

bool read_field(Reader& r, Program& p) {
  switch (r.tag()) {
    case program::line: p.sizes.push_back(read_line(r.get_message())); return true;
    case program::input_lines: p.input_lines = r.get_uint32(); return true;
    case program::buffer: p.buffers.push_back(read_buffer(r.get_message())); return true;
    case program::step: p.steps.push_back(read_step(r.get_message())); return true;
    case program::input: p.inputs.push_back(read_port(r.get_message())); return true;
    case program::output: p.outputs.push_back(read_port(r.get_message())); return true;
    case program::blob: p.blobs.push_back(read_blob(r.get_message())); return true;
    case program::guard: p.guards.push_back(read_guard(r.get_message())); return true;
    case program::state: p.states.push_back(read_state_port(r.get_message())); return true;
    default: return false;
  }
}

void write(pbf_writer w, const Program& p) {
  auto add = [&](uint32_t field, const auto& item) { write(pbf_writer(w, field), item); };
  for (const SizeLine& l : p.sizes) add(program::line, l);
  w.add_uint32(program::input_lines, p.input_lines);
  for (const Guard& g : p.guards) add(program::guard, g);
  for (const BufferInfo& b : p.buffers) add(program::buffer, b);
  for (const Step& s : p.steps) add(program::step, s);
  for (const PortInfo& i : p.inputs) add(program::input, i);
  for (const PortInfo& o : p.outputs) add(program::output, o);
  for (const Blob& b : p.blobs) add(program::blob, b);
  for (const StatePort& s : p.states) add(program::state, s);
}

Result<ProgramTable> decoded(std::string_view bytes, ProgramTable (*read)(Reader), uint32_t outer_sizes) {
  ProgramTable table;
  try {
    table = read(Reader(bytes.data(), bytes.size()));
  } catch (const protozero::exception& e) {
    return fail(Code::bad_file, "program section", "the programs do not decode")
        .expected("numbered fields")
        .found(e.what())
        .advice("build the engine again");
  }
  if (!is_sound(table, outer_sizes))
    return fail(Code::bad_file, "program section", "a program refers to what is not there")
        .expected("sound indices")
        .found("one that is out of range")
        .advice("build the engine again");
  return table;
}

}  // namespace tenon::runtime
