// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"
#include "compiler/plan_record.h"

namespace tenon::compiler {

namespace {

using codegen::AccessPattern;
using codegen::LoopWork;
using codegen::ProductWork;
using codegen::Work;

// Field numbers are for ever: a number that is no longer written is never used again.
namespace tag {
enum : uint32_t { group = 1, node = 2, step = 3, entry = 4 };
}
namespace group_tag {
enum : uint32_t { kind = 1 };
}
namespace node_tag {
enum : uint32_t { groups = 1 };
}
namespace step_tag {
enum : uint32_t { group = 1, product = 2, loop = 3, walk = 4 };
}
namespace product_tag {
enum : uint32_t { tile_rows = 5, tile_vectors = 6, operand = 7, along = 8, sum = 9 };
}
namespace walk_tag {
enum : uint32_t { whole = 3, written = 4 };
}

/// A field that is left out has the value that it has in a new T.
template <class T, class Member>
struct Field {
  uint32_t tag;
  Member T::* member;
};

// Sizes are text: a number, or a polynomial over the graph's symbols.
constexpr Field<ProductWork, Dim> kProductSizes[] = {{1, &ProductWork::times},
                                                     {2, &ProductWork::rows},
                                                     {3, &ProductWork::lanes},
                                                     {4, &ProductWork::depth},
                                                     {10, &ProductWork::skipped_products},
                                                     {11, &ProductWork::rows_per_line}};
constexpr Field<LoopWork, Dim> kLoopSizes[] = {{1, &LoopWork::points},
                                               {2, &LoopWork::lane_extent},
                                               {8, &LoopWork::vector_loops},
                                               {9, &LoopWork::inner_loops},
                                               {10, &LoopWork::lane_reductions}};
constexpr Field<LoopWork, double> kLoopNumbers[] = {{3, &LoopWork::operations},   {4, &LoopWork::transcendentals},
                                                    {5, &LoopWork::exponentials}, {6, &LoopWork::loads},
                                                    {7, &LoopWork::gathers},      {11, &LoopWork::sum_latency}};
constexpr Field<AccessPattern, Dim> kWalkSizes[] = {{1, &AccessPattern::elements}, {2, &AccessPattern::parts}};

constexpr uint32_t kMaxTileSize = 64;  ///< rows, and vectors
constexpr double kMaxNumber = 0x1p53;

// --- writing ---

template <class T>
void write(protozero::pbf_writer& w, const T& from, std::span<const Field<T, Dim>> sizes) {
  for (const auto& f : sizes)
    if (from.*f.member != T{}.*f.member) w.add_string(f.tag, (from.*f.member).text());
}

std::string encode(const ProductWork& p) {
  std::string out;
  protozero::pbf_writer w(out);
  write<ProductWork>(w, p, kProductSizes);
  w.add_uint32(product_tag::tile_rows, static_cast<uint32_t>(p.tile.rows));
  w.add_uint32(product_tag::tile_vectors, static_cast<uint32_t>(p.tile.vectors));
  w.add_uint32(product_tag::operand, static_cast<uint32_t>(p.instruction->operand));
  if (p.instruction->along != DType::none) w.add_uint32(product_tag::along, static_cast<uint32_t>(p.instruction->along));
  w.add_uint32(product_tag::sum, static_cast<uint32_t>(p.instruction->sum));
  return out;
}

std::string encode(const LoopWork& l) {
  std::string out;
  protozero::pbf_writer w(out);
  write<LoopWork>(w, l, kLoopSizes);
  for (const auto& f : kLoopNumbers)
    if (l.*f.member != 0) w.add_double(f.tag, l.*f.member);
  return out;
}

std::string encode(const AccessPattern& walk) {
  std::string out;
  protozero::pbf_writer w(out);
  write<AccessPattern>(w, walk, kWalkSizes);
  if (walk.whole) w.add_uint32(walk_tag::whole, 1);
  if (walk.written) w.add_uint32(walk_tag::written, 1);
  return out;
}

std::string encode_step(uint32_t group, const Work& work) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_uint32(step_tag::group, group);
  for (const ProductWork& p : work.products) w.add_message(step_tag::product, encode(p));
  for (const LoopWork& l : work.loops) w.add_message(step_tag::loop, encode(l));
  for (const AccessPattern& walk : work.access_patterns) w.add_message(step_tag::walk, encode(walk));
  return out;
}

std::string encode_group(const std::string& kind) {
  std::string out;
  protozero::pbf_writer(out).add_string(group_tag::kind, kind);
  return out;
}

std::string encode_node(const std::vector<size_t>& groups) {
  std::string out;
  protozero::pbf_writer(out).add_packed_uint32(node_tag::groups, groups.begin(), groups.end());
  return out;
}

// --- reading ---

/// Thrown where a field has an invalid value.
struct BadField {
  std::string what;
};

class RecordReader {
 public:
  RecordReader(ir::Graph& graph, const codegen::Target& target) : symbols_(graph.symbols()), target_(target) {
    for (const ir::NodeId id : graph.nodes()) nodes_.push_back(id);
  }

  PlanRecord read(WireReader r) {
    while (r.next()) {
      switch (r.tag()) {
        case tag::group: out_.groups.push_back(group(r.get_message())); break;
        case tag::node: node(r.get_message()); break;
        case tag::step: step(r.get_message()); break;
        default: r.skip();
      }
    }
    if (node_count_ != nodes_.size()) throw BadField{fmt::format("{} nodes of {}", node_count_, nodes_.size())};
    for (const uint32_t g : out_.group_of_step) check_group(g);
    for (const auto& [node, groups] : out_.groups_of_nodes) std::ranges::for_each(groups, [&](size_t g) { check_group(g); });
    return std::move(out_);
  }

 private:
  void check_group(size_t group) const {
    if (group >= out_.groups.size()) throw BadField{fmt::format("group {} of {}", group, out_.groups.size())};
  }

  static std::string group(WireReader r) {
    std::string kind;
    while (r.next()) {
      if (r.tag() == group_tag::kind) kind = r.get_string();
      else r.skip();
    }
    return kind;
  }

  void node(WireReader r) {
    if (node_count_ == nodes_.size()) throw BadField{fmt::format("more than {} nodes", nodes_.size())};
    const ir::NodeId id = nodes_[node_count_++];
    while (r.next()) {
      if (r.tag() != node_tag::groups) r.skip();
      else std::ranges::copy(r.get_packed_uint32(), std::back_inserter(out_.groups_of_nodes[id]));
    }
  }

  void step(WireReader r) {
    uint32_t group = 0;
    Work work;
    while (r.next()) {
      switch (r.tag()) {
        case step_tag::group: group = r.get_uint32(); break;
        case step_tag::product: work.products.push_back(product(r.get_message())); break;
        case step_tag::loop: work.loops.push_back(loop(r.get_message())); break;
        case step_tag::walk: work.access_patterns.push_back(walk(r.get_message())); break;
        default: r.skip();
      }
    }
    out_.group_of_step.push_back(group);
    out_.work_of_step.push_back(std::move(work));
  }

  Dim size(const std::string& text) const {
    const std::optional<Dim> out = symbols_.parse(text);
    const bool is_size = out && !out->is_overflow() && (!out->is_number() || out->value() >= 0);
    if (!is_size) throw BadField{"a size of '" + text.substr(0, 60) + "'"};
    return *out;
  }

  static double number(double value) {
    if (!(value >= 0 && value <= kMaxNumber)) throw BadField{fmt::format("{} operations of a point", value)};
    return value;
  }

  static int tile_size(uint32_t value) {
    if (value < 1 || value > kMaxTileSize) throw BadField{fmt::format("a tile of {}", value)};
    return static_cast<int>(value);
  }

  /// Whether it was the next field.
  template <class T>
  bool read_size(WireReader& r, T& to, std::span<const Field<T, Dim>> sizes) const {
    const auto found = std::ranges::find(sizes, r.tag(), &Field<T, Dim>::tag);
    if (found != sizes.end()) to.*found->member = size(r.get_string());
    return found != sizes.end();
  }

  ProductWork product(WireReader r) const {
    ProductWork out;
    DType operand = DType::none, along = DType::none, sum = DType::none;
    while (r.next()) {
      if (read_size<ProductWork>(r, out, kProductSizes)) continue;
      switch (r.tag()) {
        case product_tag::tile_rows: out.tile.rows = tile_size(r.get_uint32()); break;
        case product_tag::tile_vectors: out.tile.vectors = tile_size(r.get_uint32()); break;
        case product_tag::operand: operand = r.get_enum<DType>(); break;
        case product_tag::along: along = r.get_enum<DType>(); break;
        case product_tag::sum: sum = r.get_enum<DType>(); break;
        default: r.skip();
      }
    }
    out.instruction = target_.multiply_add(operand, along == DType::none ? operand : along, sum);
    if (!out.instruction) throw BadField{"a multiply-add that " + std::string(target_.title) + " lacks"};
    tile_size(static_cast<uint32_t>(out.tile.rows));
    tile_size(static_cast<uint32_t>(out.tile.vectors));
    return out;
  }

  LoopWork loop(WireReader r) const {
    LoopWork out;
    while (r.next()) {
      if (read_size<LoopWork>(r, out, kLoopSizes)) continue;
      const auto found = std::ranges::find(kLoopNumbers, r.tag(), &Field<LoopWork, double>::tag);
      if (found != std::end(kLoopNumbers)) out.*found->member = number(r.get_double());
      else r.skip();
    }
    return out;
  }

  AccessPattern walk(WireReader r) const {
    AccessPattern out;
    while (r.next()) {
      if (read_size<AccessPattern>(r, out, kWalkSizes)) continue;
      switch (r.tag()) {
        case walk_tag::whole: out.whole = r.get_uint32() != 0; break;
        case walk_tag::written: out.written = r.get_uint32() != 0; break;
        default: r.skip();
      }
    }
    return out;
  }

  Symbols& symbols_;
  const codegen::Target& target_;
  std::vector<ir::NodeId> nodes_;
  size_t node_count_ = 0;  ///< read so far
  PlanRecord out_;
};

Error damaged(std::string found) {
  return fail(Code::bad_file, "plan record section", "the record of the plan does not decode")
      .expected("numbered fields of this graph and target")
      .found(std::move(found))
      .advice("build the engine again");
}

}  // namespace

std::string encode(const PlanRecord& record, const ir::Graph& graph) {
  std::string out;
  protozero::pbf_writer w(out);
  for (const std::string& kind : record.groups) w.add_message(tag::group, encode_group(kind));
  for (const ir::NodeId id : graph.nodes()) {
    const auto found = record.groups_of_nodes.find(id);
    w.add_message(tag::node, found == record.groups_of_nodes.end() ? std::string() : encode_node(found->second));
  }
  for (size_t s = 0; s < record.group_of_step.size(); ++s)
    w.add_message(tag::step, encode_step(record.group_of_step[s], record.work_of_step[s]));
  return out;
}

std::string encode_plan_records(const Compiled& compiled) {
  std::string out = encode(plan_record(compiled), *compiled.graph);
  protozero::pbf_writer w(out);
  for (size_t k = 1; k <= compiled.other_entries.size(); ++k)
    w.add_message(tag::entry, encode(plan_record(compiled, k), graph_of(compiled, k)));
  return out;
}

Result<PlanRecord> decode_plan_record(std::string_view bytes, ir::Graph& graph, const codegen::Target& target) {
  try {
    return RecordReader(graph, target).read(WireReader(bytes.data(), bytes.size()));
  } catch (const protozero::exception& e) { return damaged(e.what()); } catch (const BadField& e) {
    return damaged(e.what);
  }
}

Result<std::vector<PlanRecord>> decode_plan_records(std::string_view bytes, std::span<ir::Graph* const> graphs,
                                                    const codegen::Target& target) {
  std::vector<std::string_view> others;
  try {
    for (WireReader r(bytes.data(), bytes.size()); r.next();) {
      if (r.tag() != tag::entry) {
        r.skip();
        continue;
      }
      const auto of_entry = r.get_message().data();
      others.emplace_back(of_entry.data(), of_entry.size());
    }
  } catch (const protozero::exception& e) { return damaged(e.what()); }
  if (others.size() >= graphs.size()) return damaged(fmt::format("{} records of {} graphs", others.size() + 1, graphs.size()));
  std::vector<PlanRecord> out;
  out.push_back(TRY(decode_plan_record(bytes, *graphs[0], target)));
  for (size_t k = 0; k < others.size(); ++k) out.push_back(TRY(decode_plan_record(others[k], *graphs[k + 1], target)));
  return out;
}

}  // namespace tenon::compiler
