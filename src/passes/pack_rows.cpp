// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <unordered_map>

#include "passes/packing/needs.h"
#include "passes/packing/packed.h"
#include "passes/passes.h"
#include "rules/helpers/elementwise.h"

namespace tenon::passes {
namespace {

using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// What hides a key is not higher, what shows one not lower: sums of products that are added to it stay below 2^96, so that a hidden key
/// has a weight of 0 where another one is shown.
constexpr double kHidden = -0x1p100, kShown = -0x1p98;

class RowPacker {
 public:
  RowPacker(Graph& graph, Needs needs) : graph_(graph), needs_(std::move(needs)), build_(graph) {
    for (NodeId n : graph.nodes()) nodes_.push_back(n);
  }

  Result<void> run() {
    rows_.emplace(build_, kept_rows());
    for (NodeId n : nodes_) {
      TRY(build_.status());
      build_.set_provenance({"pack_rows", {graph_.node(n).name}});
      if (const auto a = needs_.attentions.find(n); a != needs_.attentions.end()) attend(a->second);
      else if (const auto op = needs_.row_ops.find(n); op != needs_.row_ops.end()) compute(n, op->second);
      else if (needs_.picks.contains(n)) pick(n);
    }
    TRY(build_.status());
    for (const auto& [from, to] : replacements_)
      if (!graph_.replace_all_uses(from, to)) return fail(Code::internal, "pack_rows", "rows are needed before they are there");
    return {};
  }

 private:
  ValueId row_axes_of(ValueId value) {  // [sequences, 1, 1, length]
    return build_("Squeeze", {value, build_.ints({1, 2})});
  }
  ValueId either(ValueId a, ValueId b) { return build_("Or", {a, b}); }
  ValueId negated(ValueId a) { return build_("Not", {a}); }

  /// bool[sequences, length]: rows that are shown to queries, or requested. A sequence whose keys are all hidden keeps them all, as they
  /// may share its weight then.
  ValueId kept_rows() {
    const ValueId mask = row_axes_of(needs_.mask);
    const bool chooses = graph_.value(mask).type.dtype == DType::boolean;
    const auto limit = [&](double v) { return build_.scalar(DType::f32, v); };
    const ValueId hidden = chooses ? ValueId{} : build_("LessOrEqual", {mask, limit(kHidden)});
    const ValueId shown = chooses ? mask : build_("GreaterOrEqual", {mask, limit(kShown)});
    const ValueId count = build_("ReduceMax", {as(shown, DType::i32), build_.ints({1})}, {{"keepdims", int64_t{1}}});
    const ValueId none = build_("Equal", {count, build_.scalar(DType::i32, 0)});
    ValueId keep = either(chooses ? mask : negated(hidden), none);
    for (NodeId n : nodes_)
      if (const auto found = needs_.weighted.find(n); found != needs_.weighted.end()) keep = either(keep, is_weighted(found->second));
    return with_requested(keep);
  }

  ValueId as(ValueId value, DType dtype) { return build_("Cast", {value}, {{"to", static_cast<int64_t>(dtype)}}); }

  ValueId is_weighted(ValueId weights) {
    ir::Ints trailing;
    for (int a = 2; a < graph_.value(weights).type.rank(); ++a) trailing.push_back(a);
    const ValueId flat = build_("Squeeze", {weights, build_.ints(std::move(trailing))});
    return negated(build_("Equal", {flat, build_.scalar(graph_.value(weights).type.dtype, 0)}));
  }

  ValueId with_requested(ValueId keep) {
    std::set<int64_t> requested;
    for (const auto& [node, places] : needs_.picks) requested.insert(places.begin(), places.end());
    if (requested.empty()) return keep;
    const ValueId size = build_("Shape", {keep}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
    const ValueId length = build_("Squeeze", {size, build_.ints({0})});
    const auto number = [&](int64_t v) { return build_.scalar(DType::i64, static_cast<double>(v)); };
    const ValueId all = build_("Range", {number(0), length, number(1)});
    for (int64_t place : requested) {
      const ValueId from_start = place < 0 ? build_("Add", {length, number(place)}) : number(place);
      keep = either(keep, build_("Equal", {all, from_start}));
    }
    return keep;
  }

  /// The packed rows of a value, made here where what makes the value is not packed.
  ValueId packed(ValueId value) {
    const auto [at, is_new] = packed_.try_emplace(value);
    if (is_new) at->second = rows_->part(value, Part::row, 0);
    return at->second;
  }

  void compute(NodeId n, const std::vector<Part>& parts) {
    const Node& node = graph_.node(n);
    const int rank = rules::is_elementwise(node) ? graph_.value(node.outputs[0]).type.rank() : kAnyRank;
    std::vector<ValueId> operands;
    for (size_t k = 0; k < parts.size(); ++k)
      operands.push_back(parts[k] == Part::row ? packed(node.inputs[k]) : rows_->part(node.inputs[k], parts[k], rank));
    const auto made = on_packed_rows(build_, n, std::move(operands));
    if (!build_.status()) return;
    for (size_t k = 0; k < made.size(); ++k)
      if (const ValueId out = graph_.node(n).outputs[k]) packed_[out] = made[k];
    if (needs_.weighted.contains(n)) replacements_.emplace_back(graph_.node(n).outputs[0], rows_->unpacked(made[0]));
  }

  void pick(NodeId n) {
    const ValueId from = graph_.node(n).inputs[0], places = graph_.node(n).inputs[1], out = graph_.node(n).outputs[0];
    const ValueId rows = build_("Gather", {rows_->places(), places}, {{"axis", int64_t{1}}});
    replacements_.emplace_back(out, build_("Gather", {packed(from), rows}, {{"axis", int64_t{0}}}));
  }

  void attend(const MaskedAttention& a) {
    const ir::Type query = graph_.value(a.query).type;
    const ir::Ints heads = {query.dim(2).value(), query.dim(3).value()};
    const int64_t requested = a.all_rows_are_queries ? 0 : query.dim(1).value();
    const ValueId q = a.all_rows_are_queries ? packed(a.query) : build_("Reshape", {a.query, build_.ints({-1, heads[0], heads[1]})});
    ir::Attributes attributes;
    for (const char* name : {"masked_rows", "scale", "softcap"})
      if (const ir::Attribute* given = graph_.node(a.node).attributes.find(name)) attributes.set(name, *given);
    const ir::Op* op = graph_.ops().find("tenon", "RaggedAttention");
    TENON_ASSERT(op);
    const auto made =
        build_.many(*op,
                    {q, packed(a.key), packed(a.value), a.all_rows_are_queries ? rows_->starts() : even_starts(a.query, requested),
                     rows_->starts(), a.all_rows_are_queries ? rows_->length() : build_.scalar(DType::i64, double(requested)), mask()},
                    1, std::move(attributes));
    if (!build_.status()) return;
    const int64_t value_size = graph_.value(a.value).type.dim(3).value();
    for (const ValueId rows : a.rows) {
      if (a.all_rows_are_queries) packed_[rows] = made[0];
      else replacements_.emplace_back(rows, build_("Reshape", {made[0], build_.ints({-1, requested, heads[0], value_size})}));
    }
  }

  /// Where the queries of each sequence start that all have as many.
  ValueId even_starts(ValueId query, int64_t requested) {
    const auto number = [&](int64_t v) { return build_.scalar(DType::i64, static_cast<double>(v)); };
    const ValueId size = build_("Shape", {query}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    const ValueId end = build_("Add", {build_("Squeeze", {size, build_.ints({0})}), number(1)});
    return build_("Mul", {build_("Range", {number(0), end, number(1)}), number(requested)});
  }

  /// Of each packed row.
  ValueId mask() {
    if (!mask_) mask_ = rows_->part(row_axes_of(needs_.mask), Part::row, 0);
    return mask_;
  }

  static constexpr int kAnyRank = 1 << 20;

  Graph& graph_;
  const Needs needs_;
  std::vector<NodeId> nodes_;  ///< as they were
  ir::Builder build_;
  std::optional<PackedRows> rows_;
  std::unordered_map<ValueId, ValueId> packed_;
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  ValueId mask_;
};

}  // namespace

Result<bool> pack_rows(Graph& graph, Context& context) {
  if (!context.options.packs) return false;
  Needs needs = needs_of(graph, context.options.packs);
  if (!needs.is_profitable()) return false;
  TRY(RowPacker(graph, std::move(needs)).run());
  rewrite::eliminate_dead_code(graph, context.options.rewriting.keep);
  return true;
}

}  // namespace tenon::passes
