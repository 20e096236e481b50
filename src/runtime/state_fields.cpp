// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/state.h"

namespace tenon::runtime {

namespace {

// Field numbers are for ever: a number that is no longer written is never used again.
namespace state {
enum : uint32_t { name = 1, dtype = 2, shape = 3, growing_axis = 4, initial = 5, dimensions = 6 };
}
namespace port {
enum : uint32_t { state = 1, old_buffer = 2, new_buffer = 3, length = 4, new_length = 5 };
}

}  // namespace

bool has_free_sizes(const StateInfo& state) { return std::ranges::find(state.shape, kFreeSize) != state.shape.end(); }

std::string state_type_text(const StateInfo& state) {
  std::vector<std::string> sizes;
  for (size_t d = 0; d < state.shape.size(); ++d) {
    const bool is_free = state.shape[d] == kFreeSize;
    const std::string size = !is_free ? std::to_string(state.shape[d]) : d < state.dimensions.size() ? state.dimensions[d] : "?";
    sizes.push_back((d == state.growing_axis ? ".." : "") + size);
  }
  return fmt::format("{}[{}]", name_of(state.dtype), fmt::join(sizes, ","));
}

void write(protozero::pbf_writer w, const StateInfo& s) {
  w.add_string(state::name, s.name);
  w.add_uint32(state::dtype, static_cast<uint32_t>(s.dtype));
  w.add_packed_sint64(state::shape, s.shape.begin(), s.shape.end());
  if (s.growing_axis) w.add_uint32(state::growing_axis, *s.growing_axis);
  if (s.initial) w.add_uint64(state::initial, *s.initial);
  for (const std::string& d : s.dimensions) w.add_string(state::dimensions, d);
}

void write(protozero::pbf_writer w, const StatePort& p) {
  w.add_uint32(port::state, p.state);
  w.add_uint32(port::old_buffer, p.old_buffer);
  w.add_uint32(port::new_buffer, p.new_buffer);
  if (p.length) w.add_uint32(port::length, *p.length);
  if (p.new_length) w.add_uint32(port::new_length, *p.new_length);
}

StateInfo read_state(WireReader r) {
  StateInfo s;
  while (r.next()) switch (r.tag()) {
      case state::name: s.name = r.get_string(); break;
      case state::dtype: s.dtype = r.get_enum<DType>(); break;
      case state::shape: {
        const auto sizes = r.get_packed_sint64();
        s.shape.assign(sizes.begin(), sizes.end());
        break;
      }
      case state::growing_axis: s.growing_axis = r.get_uint32(); break;
      case state::initial: s.initial = r.get_uint64(); break;
      case state::dimensions: s.dimensions.push_back(r.get_string()); break;
      default: r.skip();
    }
  return s;
}

StatePort read_state_port(WireReader r) {
  StatePort p;
  while (r.next()) switch (r.tag()) {
      case port::state: p.state = r.get_uint32(); break;
      case port::old_buffer: p.old_buffer = r.get_uint32(); break;
      case port::new_buffer: p.new_buffer = r.get_uint32(); break;
      case port::length: p.length = r.get_uint32(); break;
      case port::new_length: p.new_length = r.get_uint32(); break;
      default: r.skip();
    }
  return p;
}

}  // namespace tenon::runtime
