// SPDX-License-Identifier: Apache-2.0
#include "plugin/saved.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "base/wire_reader.h"
#include "plugin/registry.h"

namespace tenon::plugin {

namespace {

// Field numbers are for ever: a number that is no longer written is never used again.
namespace tag {
enum : uint32_t {
  name_space = 1,
  name = 2,
  version = 3,
  library = 4,
  sha256 = 5,
  interface = 6,
  node = 7,
  field = 8,
  result = 9,
  tactic = 10,
  operand = 11,
  place = 12,
  graphs = 13,
  tactic_name = 14,
  layout = 15
};
}
namespace field_tag {
enum : uint32_t { name = 1, type = 2, length = 3, bytes = 4 };
}

std::string encode(const Field& f) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(field_tag::name, f.name);
  w.add_uint32(field_tag::type, static_cast<uint32_t>(f.type));
  w.add_uint64(field_tag::length, static_cast<uint64_t>(f.length));
  w.add_bytes(field_tag::bytes, f.bytes);
  return out;
}

constexpr std::string_view kSection = "plugins section", kDamage = "what the engine keeps for a plugin does not decode";

Error damaged(std::string found) { return damaged_fields(kSection, kDamage, std::move(found)); }

Field read_field(WireReader r) {
  Field out;
  while (r.next()) {
    switch (r.tag()) {
      case field_tag::name: out.name = r.get_string(); break;
      case field_tag::type: out.type = static_cast<int32_t>(std::min(r.get_uint32(), uint32_t{255})); break;
      case field_tag::length: out.length = static_cast<int64_t>(std::min(r.get_uint64(), uint64_t{1} << 40)); break;
      case field_tag::bytes: out.bytes = r.get_string(); break;
      default: r.skip();
    }
  }
  return out;
}

Saved read_saved(WireReader r) {
  Saved out;
  while (r.next()) {
    switch (r.tag()) {
      case tag::name_space: out.name_space = r.get_string(); break;
      case tag::name: out.name = r.get_string(); break;
      case tag::version: out.version = r.get_string(); break;
      case tag::library: out.library = r.get_string(); break;
      case tag::sha256: out.sha256 = r.get_string(); break;
      case tag::interface: out.interface = r.get_uint32(); break;
      case tag::node: out.node = r.get_string(); break;
      case tag::field: out.fields.push_back(read_field(r.get_message())); break;
      case tag::result: out.results.push_back(r.get_enum<DType>()); break;
      case tag::operand: out.operands.push_back(r.get_int32()); break;
      case tag::place: out.places.push_back(r.get_int32()); break;
      case tag::graphs: out.graphs = r.get_uint32(); break;
      case tag::tactic: out.tactic = r.get_int32(); break;
      case tag::tactic_name: out.tactic_name = r.get_string(); break;
      case tag::layout: out.layouts.push_back(static_cast<int32_t>(std::min(r.get_uint32(), uint32_t{255}))); break;
      default: r.skip();
    }
  }
  return out;
}

/// Finds the op. Returns why it cannot run the node: it is missing or of another build; empty: it can.
std::string missing_text(const Registry& plugins, const Saved& need, Build build, const Op*& op) {
  op = plugins.find(need.name_space, need.name, need.version);
  if (!op) {
    const Op* const other = plugins.find(need.name_space, need.name);
    return fmt::format("{}, of library {}: {}", need.key(), need.library,
                       other ? "another version is there, " + other->version : "not there");
  }
  if (build == Build::any || op->sha256 == need.sha256) return {};
  return fmt::format("{}: {} is another build than the engine was built with (SHA-256 {} instead of {})", need.key(), op->file,
                     op->sha256.substr(0, 16), need.sha256.substr(0, 16));
}

/// The advice for missing ops. python/tenon/_plugins.py sets the names of libraries of Python.
std::string advice_for(const std::set<std::string>& missing) {
  if (std::ranges::any_of(missing, [](const std::string& gap) { return gap.ends_with(" of Python: not there"); }))
    return "functions run in Python alone: import their module there, then tenon.load; other libraries are named (--plugin LIB)";
  return "name their libraries (--plugin LIB); another build of one is taken with --plugin-any-build";
}

}  // namespace

std::string encode(const Saved& s) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(tag::name_space, s.name_space);
  w.add_string(tag::name, s.name);
  w.add_string(tag::version, s.version);
  w.add_string(tag::library, s.library);
  w.add_string(tag::sha256, s.sha256);
  w.add_uint32(tag::interface, s.interface);
  w.add_string(tag::node, s.node);
  for (const Field& f : s.fields) w.add_message(tag::field, encode(f));
  for (DType d : s.results) w.add_uint32(tag::result, static_cast<uint32_t>(d));
  for (int32_t k : s.operands) w.add_sint64(tag::operand, k);
  for (int32_t k : s.places) w.add_sint64(tag::place, k);
  if (s.tactic != 0) w.add_sint64(tag::tactic, s.tactic);
  if (s.graphs != 0) w.add_uint32(tag::graphs, s.graphs);
  if (!s.tactic_name.empty()) w.add_string(tag::tactic_name, s.tactic_name);
  if (std::ranges::any_of(s.layouts, [](int32_t l) { return l != TENON_ROW_MAJOR; }))
    for (int32_t l : s.layouts) w.add_uint32(tag::layout, static_cast<uint32_t>(l));
  return out;
}

Result<Saved> decode_saved(std::string_view bytes) {
  Saved out = TRY(read_fields(bytes, kSection, kDamage, read_saved));
  for (const Field& f : out.fields)
    if (bytes_of_field(f.type, f.length) != static_cast<int64_t>(f.bytes.size()))
      return damaged(fmt::format("field '{}' of {} elements in {} bytes", f.name, f.length, f.bytes.size()));
  for (DType d : out.results)
    if (!dtype_from_onnx(static_cast<int64_t>(d)) || bits_of(d) == 0)
      return damaged(fmt::format("a result of dtype {}", static_cast<int>(d)));
  if (!out.layouts.empty() && out.layouts.size() != out.operands.size() + out.results.size())
    return damaged(fmt::format("{} layouts of {} operands and {} results", out.layouts.size(), out.operands.size(), out.results.size()));
  for (int32_t l : out.layouts)
    if (l > TENON_STRIDED) return damaged(fmt::format("layout {}", l));
  if (out.places.size() != out.results.size())
    return damaged(fmt::format("{} places of {} results", out.places.size(), out.results.size()));
  return out;
}

std::string encode_all(std::span<const std::string_view> encoded) {
  std::string out;
  protozero::pbf_writer w(out);
  for (std::string_view one : encoded) w.add_message(1, one.data(), one.size());
  return out;
}

Result<std::vector<Saved>> decode_all(std::string_view bytes) {
  const auto read = [](WireReader r) {
    std::vector<std::string> encoded;
    while (r.next()) {
      if (r.tag() == 1) encoded.push_back(r.get_string());
      else r.skip();
    }
    return encoded;
  };
  std::vector<Saved> out;
  for (const std::string& one : TRY(read_fields(bytes, kSection, kDamage, read))) out.push_back(TRY(decode_saved(one)));
  return out;
}

Result<std::vector<const Op*>> find_all(const Registry& plugins, std::span<const Saved> saved, Build build, const std::string& place) {
  std::vector<const Op*> out;
  std::set<std::string> missing;
  for (const Saved& need : saved)
    if (std::string text = missing_text(plugins, need, build, out.emplace_back()); !text.empty()) missing.insert(std::move(text));
  if (missing.empty()) return out;
  return fail(Code::not_supported, place,
              fmt::format("the engine needs {} that {} not there", missing.size() == 1 ? "a plugin" : "plugins",
                          missing.size() == 1 ? "is" : "are"))
      .expected("each plugin that `tenon inspect` lists, of the build that it names")
      .found(fmt::format("{}", fmt::join(missing, "\n            ")))
      .advice(advice_for(missing));
}

}  // namespace tenon::plugin
