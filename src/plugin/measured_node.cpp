// SPDX-License-Identifier: Apache-2.0
#include "plugin/measured_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"

namespace tenon::plugin {

namespace {

// Field numbers are for ever: a number that is no longer written is never used again.
namespace tag {
enum : uint32_t { plugin = 1, node = 2, call = 3, nodes = 4, candidate = 5, chosen = 6, note = 7 };
}
namespace candidate_tag {
enum : uint32_t { name = 1, ns = 2, dropped = 3 };
}

constexpr double kMostTime = 0x1p53;  ///< a hundred days; the last integer that a double represents exactly

std::string encode(const MeasuredNode::Candidate& c) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(candidate_tag::name, c.name);
  if (c.ns) w.add_uint64(candidate_tag::ns, static_cast<uint64_t>(std::llround(*c.ns)));
  if (!c.dropped.empty()) w.add_string(candidate_tag::dropped, c.dropped);
  return out;
}

std::string encode(const MeasuredNode& n) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(tag::plugin, n.plugin);
  w.add_string(tag::node, n.node);
  w.add_string(tag::call, n.call);
  w.add_uint64(tag::nodes, n.nodes);
  for (const MeasuredNode::Candidate& c : n.candidates) w.add_message(tag::candidate, encode(c));
  w.add_uint64(tag::chosen, n.chosen);
  if (!n.note.empty()) w.add_string(tag::note, n.note);
  return out;
}

MeasuredNode::Candidate read_candidate(WireReader r) {
  MeasuredNode::Candidate out;
  while (r.next()) {
    switch (r.tag()) {
      case candidate_tag::name: out.name = r.get_string(); break;
      case candidate_tag::ns: out.ns = static_cast<double>(r.get_uint64()); break;
      case candidate_tag::dropped: out.dropped = r.get_string(); break;
      default: r.skip();
    }
  }
  return out;
}

MeasuredNode read_node(WireReader r) {
  MeasuredNode out;
  while (r.next()) {
    switch (r.tag()) {
      case tag::plugin: out.plugin = r.get_string(); break;
      case tag::node: out.node = r.get_string(); break;
      case tag::call: out.call = r.get_string(); break;
      case tag::nodes: out.nodes = r.get_uint64(); break;
      case tag::candidate: out.candidates.push_back(read_candidate(r.get_message())); break;
      case tag::chosen: out.chosen = r.get_uint64(); break;
      case tag::note: out.note = r.get_string(); break;
      default: r.skip();
    }
  }
  return out;
}

constexpr std::string_view kSection = "plugin times section", kDamage = "what was measured of plugins does not decode";

Error damaged(std::string found) { return damaged_fields(kSection, kDamage, std::move(found)); }

std::vector<MeasuredNode> read_nodes(WireReader r) {
  std::vector<MeasuredNode> out;
  while (r.next()) {
    if (r.tag() == 1) out.push_back(read_node(r.get_message()));
    else r.skip();
  }
  return out;
}

}  // namespace

std::string time_text(std::optional<double> ns) {
  if (!ns) return "-";
  return *ns < 1e6 ? fmt::format("{:.1f} us", *ns / 1e3) : fmt::format("{:.2f} ms", *ns / 1e6);
}

std::string MeasuredNode::text() const {
  if (candidates.empty()) return note;
  std::string out = fmt::format("{}: {}", candidates[chosen].name, time_text(candidates[chosen].ns));
  const char* separator = ", compared with ";
  for (size_t k = 0; k < candidates.size(); ++k) {
    if (k == chosen || !candidates[k].ns) continue;
    out += fmt::format("{}{}: {}", separator, candidates[k].name, time_text(candidates[k].ns));
    separator = ", ";
  }
  return out;
}

std::string encode(std::span<const MeasuredNode> nodes) {
  std::string out;
  protozero::pbf_writer w(out);
  for (const MeasuredNode& n : nodes) w.add_message(1, encode(n));
  return out;
}

Result<std::vector<MeasuredNode>> decode_measured(std::string_view bytes) {
  auto out = TRY(read_fields(bytes, kSection, kDamage, read_nodes));
  for (const MeasuredNode& node : out) {
    for (const MeasuredNode::Candidate& c : node.candidates)
      if (c.ns && *c.ns > kMostTime) return damaged(fmt::format("a run of {} ns", *c.ns));
    if (!node.candidates.empty() && node.chosen >= node.candidates.size())
      return damaged(fmt::format("candidate {} of {}", node.chosen, node.candidates.size()));
  }
  return out;
}

}  // namespace tenon::plugin
