// SPDX-License-Identifier: Apache-2.0
// Saved states: a magic, the size of the header, a checksum of all that follows it; the header (numbered fields); the values one after the
// other, each row-major without gaps.
#include "runtime/run/state_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/hash.h"

namespace tenon::runtime {

namespace {

constexpr std::string_view kStateMagic = "TENONST1";

/// What precedes the header, little-endian as all of the file.
struct StateFilePrefix {
  char magic[8];
  uint64_t header_bytes;
  Hash128 checksum;  ///< of the header and the values
};
static_assert(sizeof(StateFilePrefix) == 32);

// Field numbers are for ever: a number that is no longer written is never used again.
namespace state_header {
enum : uint32_t { engine_low = 1, engine_high = 2, state = 3 };
}
namespace saved_state {
enum : uint32_t { info = 1, length = 2, shape = 3 };
}

struct SavedState {
  StateInfo info;
  int64_t length = 0;
  Sizes shape = {};  ///< where the state has free sizes, with the capacity
};

struct StateHeader {
  Hash128 engine;
  std::vector<SavedState> states;
};

/// Of the programs and parts of the weights, of which nearly all bytes differ where they were trained apart.
Hash128 identity_of(const Engine& engine) {
  constexpr uint64_t kPieces = 64, kPieceBytes = 256;
  Hasher hasher;
  hasher.add(encode(engine.programs()));
  const uint64_t bytes = engine.programs().weight_bytes, piece = std::min(bytes, kPieceBytes);
  for (uint64_t k = 0; k < kPieces && piece > 0; ++k) hasher.add({engine.weights() + (bytes - piece) / kPieces * k, piece});
  return hasher.digest();
}

std::string header_of(const Engine& engine, const States& states) {
  const Hash128 identity = identity_of(engine);
  std::string bytes;
  protozero::pbf_writer w(bytes);
  w.add_uint64(state_header::engine_low, identity.low);
  w.add_uint64(state_header::engine_high, identity.high);
  for (uint32_t k = 0; k < states.infos().size(); ++k) {
    protozero::pbf_writer one(w, state_header::state);
    write(protozero::pbf_writer(one, saved_state::info), states.infos()[k]);
    one.add_sint64(saved_state::length, states.length(k));
    const Sizes& shape = states.info(k).shape;
    if (has_free_sizes(states.infos()[k])) one.add_packed_sint64(saved_state::shape, shape.begin(), shape.end());
  }
  return bytes;
}

SavedState read_saved(WireReader r) {
  SavedState s;
  while (r.next()) switch (r.tag()) {
      case saved_state::info: s.info = read_state(r.get_message()); break;
      case saved_state::length: s.length = r.get_sint64(); break;
      case saved_state::shape: {
        const auto sizes = r.get_packed_sint64();
        s.shape.assign(sizes.begin(), sizes.end());
        break;
      }
      default: r.skip();
    }
  return s;
}

StateHeader read_state_header(WireReader r) {
  StateHeader h;
  while (r.next()) switch (r.tag()) {
      case state_header::engine_low: h.engine.low = r.get_uint64(); break;
      case state_header::engine_high: h.engine.high = r.get_uint64(); break;
      case state_header::state: h.states.push_back(read_saved(r.get_message())); break;
      default: r.skip();
    }
  return h;
}

Error bad_states(std::string expected, std::string found) {
  return fail(Code::bad_file, "saved states", "these bytes are no saved states, or they are damaged")
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("save the states again");
}

Error other_engine(std::string expected, std::string found) {
  return fail(Code::bad_input, "saved states", "the states were saved from another engine")
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("restore them with the engine file that they were saved with");
}

/// Header and values, once the checksum holds.
Result<std::pair<std::string_view, std::string_view>> parts_of(std::string_view bytes) {
  StateFilePrefix prefix;
  if (bytes.size() < sizeof prefix || !bytes.starts_with(kStateMagic))
    return bad_states(fmt::format("bytes that begin with {}", kStateMagic), fmt::format("{} bytes that do not", bytes.size()));
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  const std::string_view rest = bytes.substr(sizeof prefix);
  if (prefix.header_bytes > rest.size())
    return bad_states(fmt::format("a header of {} bytes", prefix.header_bytes), fmt::format("{} bytes in all", rest.size()));
  if (const Hash128 found = hash128(rest); found != prefix.checksum) return bad_states(prefix.checksum.text(), found.text());
  return std::pair(rest.substr(0, prefix.header_bytes), rest.substr(prefix.header_bytes));
}

/// Errors: bad_input where it is not what the engine has; bad_file where it is that of no state.
Result<void> check_saved(const SavedState& saved, const StateInfo& info) {
  if (saved.info.name != info.name || saved.info.dtype != info.dtype || saved.info.shape != info.shape ||
      saved.info.growing_axis != info.growing_axis)
    return other_engine(fmt::format("{}: {}", state_place(info), state_type_text(info)),
                        fmt::format("{}: {}", state_place(saved.info), state_type_text(saved.info)));
  const int64_t most = info.growing_axis ? info.shape[*info.growing_axis] : 0;
  if (saved.length < 0 || saved.length > most) return bad_states(fmt::format("a length of at most {}", most), std::to_string(saved.length));
  return {};
}

/// The state with the sizes that it was saved with. Errors: bad_file.
Result<StateInfo> sized_info(const SavedState& saved, const StateInfo& info) {
  if (!has_free_sizes(info)) return info;
  StateInfo out = info;
  out.shape = saved.shape;
  const bool fits = std::ranges::equal(saved.shape, info.shape,
                                       [](int64_t size, int64_t known) { return known == kFreeSize ? size >= 0 : size == known; });
  const auto count = fits ? checked_count(saved.shape) : std::nullopt;
  if (count && *count <= int64_t{1} << 45) return out;
  return bad_states(state_type_text(info), fmt::format("sizes {}", fmt::join(saved.shape, ",")));
}

}  // namespace

Result<std::string> saved_states(const Engine& engine, States& states) {
  std::string header = header_of(engine, states), out(sizeof(StateFilePrefix), '\0');
  const size_t header_bytes = header.size();
  out += header;
  for (uint32_t k = 0; k < states.infos().size(); ++k) {
    const Tensor value = TRY(states.value(k));
    out.append(reinterpret_cast<const char*>(value.data()), static_cast<size_t>(value.byte_size()));
  }
  StateFilePrefix prefix{{}, header_bytes, hash128(std::string_view(out).substr(sizeof prefix))};
  std::ranges::copy(kStateMagic, prefix.magic);
  std::memcpy(out.data(), &prefix, sizeof prefix);
  return out;
}

Result<void> read_states(std::string_view bytes, const Engine& engine, States& states) {
  const auto [fields, values] = TRY(parts_of(bytes));
  const StateHeader header = TRY(read_fields(fields, "saved states", "the states do not decode", read_state_header));
  if (const Hash128 own = identity_of(engine); header.engine != own) return other_engine(own.text(), header.engine.text());
  if (header.states.size() != states.infos().size())
    return other_engine(fmt::format("{} states", states.infos().size()), fmt::format("{}", header.states.size()));
  std::vector<Tensor> all;
  size_t at = 0;
  for (uint32_t k = 0; k < header.states.size(); ++k) {
    const SavedState& saved = header.states[k];
    TRY(check_saved(saved, states.infos()[k]));
    const StateInfo info = TRY(sized_info(saved, states.infos()[k]));
    const Sizes shape = shape_at(info, saved.length);
    const auto size = static_cast<size_t>(tenon::bytes_of(info.dtype, *checked_count(shape)));
    if (size > values.size() - at)
      return bad_states(fmt::format("{} bytes of {}", size, state_place(info)), std::to_string(values.size() - at));
    all.push_back(Tensor::view(info.dtype, shape, values.data() + at, nullptr));
    at += size;
  }
  if (at != values.size()) return bad_states(fmt::format("{} bytes of values", at), std::to_string(values.size()));
  return states.assign(all);
}

}  // namespace tenon::runtime
