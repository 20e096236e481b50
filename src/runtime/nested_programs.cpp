// SPDX-License-Identifier: Apache-2.0
// Programs as engines had them before there was a table: bodies and fallbacks nested in the one entry. Read, never written.
#include <iterator>

#include "runtime/program_fields.h"
#include "runtime/program_table.h"

namespace tenon::runtime {

namespace {

/// In addition to the fields of a program. Field numbers are for ever.
namespace nested_field {
enum : uint32_t { text = 7, weight_bytes = 8, body = 9, unbounded = 12, inner_graph = 13, plugin_free = 14, overridable = 15 };
}

/// Bodies in bodies in bodies: no model nests deeper.
constexpr int kDeepestBody = 32;

/// A program with what is nested in it.
struct Nested {
  ProgramTree tree;
  std::vector<ProgramTree> unbounded = {}, inner_graphs = {}, plugin_free = {}, overridable = {};
  uint64_t weight_bytes = 0;
};

ProgramTree read_tree(WireReader r, int depth);

/// The field that `r` is at; false: it is none of a tree.
bool read_tree_field(WireReader& r, ProgramTree& tree, int depth) {
  if (read_field(r, tree.program)) return true;
  if (r.tag() == nested_field::text) {
    tree.program.blobs.push_back({"reference", r.get_string(), {}});  // of 0.1.0, which had that device alone
    return true;
  }
  if (r.tag() != nested_field::body) return false;
  if (depth >= kDeepestBody) throw protozero::invalid_length_exception();
  tree.bodies.push_back(read_tree(r.get_message(), depth + 1));
  return true;
}

/// Of a nested program: only the outermost one had others than bodies.
ProgramTree read_tree(WireReader r, int depth) {
  ProgramTree out;
  while (r.next()) {
    if (read_tree_field(r, out, depth)) continue;
    if (r.tag() >= nested_field::unbounded && r.tag() <= nested_field::overridable) throw protozero::invalid_tag_exception();
    r.skip();
  }
  return out;
}

Nested read_nested(WireReader r) {
  Nested out;
  while (r.next()) {
    if (read_tree_field(r, out.tree, 0)) continue;
    switch (r.tag()) {
      case nested_field::weight_bytes: out.weight_bytes = r.get_uint64(); break;
      case nested_field::unbounded: out.unbounded.push_back(read_tree(r.get_message(), 1)); break;
      case nested_field::inner_graph: out.inner_graphs.push_back(read_tree(r.get_message(), 1)); break;
      case nested_field::plugin_free: out.plugin_free.push_back(read_tree(r.get_message(), 1)); break;
      case nested_field::overridable: out.overridable.push_back(read_tree(r.get_message(), 1)); break;
      default: r.skip();
    }
  }
  return out;
}

/// Blobs numbered inner graphs from 0: in the table they begin at row `first`. False: there is no such graph.
bool number_graphs(ProgramTree& tree, uint32_t first, size_t graphs) {
  for (Blob& blob : tree.program.blobs)
    for (uint32_t& graph : blob.graphs) {
      if (graph >= graphs) return false;
      graph += first;
    }
  return std::ranges::all_of(tree.bodies, [&](ProgramTree& b) { return number_graphs(b, first, graphs); });
}

/// Steps number bodies of their own program.
bool has_bodies(const ProgramTree& tree) {
  const auto is_own = [&](uint64_t body) { return body < tree.bodies.size(); };
  return std::ranges::all_of(tree.program.steps, [&](const Step& s) { return std::ranges::all_of(bodies_of(s), is_own); }) &&
         std::ranges::all_of(tree.bodies, has_bodies);
}

ProgramTable table_of(Nested nested) {
  std::vector<std::pair<NamedProgram, ProgramTree>> all;
  all.emplace_back(NamedProgram{.name = "main", .program = {}}, std::move(nested.tree));
  const auto add = [&](std::vector<ProgramTree>& trees, Role role, Condition condition) {
    for (ProgramTree& t : trees) all.emplace_back(NamedProgram{.role = role, .condition = condition, .program = {}}, std::move(t));
  };
  const size_t graphs = nested.inner_graphs.size();
  add(nested.unbounded, Role::fallback, Condition::size_out_of_range);
  add(nested.plugin_free, Role::fallback, Condition::plugin_missing);
  add(nested.overridable, Role::fallback, Condition::default_overridden);
  const auto first = static_cast<uint32_t>(all.size());
  add(nested.inner_graphs, Role::inner_graph, Condition::none);
  ProgramTable out;
  out.weight_bytes = nested.weight_bytes;
  for (auto& [row, tree] : all) {
    if (!has_bodies(tree) || !number_graphs(tree, first, graphs)) throw protozero::invalid_tag_exception();
    out.programs.push_back(std::move(row));
  }
  for (uint32_t k = 0; k < all.size(); ++k) place_tree(out, k, std::move(all[k].second));
  return out;
}

}  // namespace

Result<ProgramTable> decode_nested(std::string_view bytes) {
  return decoded(bytes, [](WireReader r) { return table_of(read_nested(r)); });
}

}  // namespace tenon::runtime
