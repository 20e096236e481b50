// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <unordered_map>

#include "passes/packing/packable_nodes.h"
#include "passes/packing/packed.h"
#include "passes/passes.h"
#include "rules/helpers/elementwise.h"

namespace tenon::passes {
namespace {

using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// Limits of an additive mask: an element of at most kMaxHidden hides a key, one of at least kMinVisible shows it. The scores to which it
/// is added are taken as below 2^96, so that a hidden key has the weight 0 where another key is visible.
constexpr double kMaxHidden = -0x1p100, kMinVisible = -0x1p98;

/// Rewrites the nodes of a PackableNodes to compute packed rows.
class RowPacker {
 public:
  RowPacker(Graph& graph, PackableNodes packable) : graph_(graph), packable_(std::move(packable)), build_(graph) {
    for (NodeId n : graph.nodes()) nodes_.push_back(n);
  }

  Result<void> run() {
    packed_rows_.emplace(build_, kept_rows());
    for (NodeId n : nodes_) {
      TRY(build_.status());
      build_.set_provenance({"pack_rows", {graph_.node(n).name}});
      if (const auto a = packable_.attentions.find(n); a != packable_.attentions.end()) pack_attention(a->second);
      else if (const auto op = packable_.row_ops.find(n); op != packable_.row_ops.end()) pack_row_op(n, op->second);
      else if (packable_.row_gathers.contains(n)) gather_rows(n);
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

  /// bool[sequences, length]: the rows to compute: those that the mask shows, and those at gathered positions. A sequence whose keys are
  /// all hidden keeps all of them, because softmax may then divide the weight among them.
  ValueId kept_rows() {
    const ValueId mask = row_axes_of(packable_.mask);
    const bool chooses = graph_.value(mask).type.dtype == DType::boolean;
    const auto limit = [&](double v) { return build_.scalar(DType::f32, v); };
    const ValueId hidden = chooses ? ValueId{} : build_("LessOrEqual", {mask, limit(kMaxHidden)});
    const ValueId shown = chooses ? mask : build_("GreaterOrEqual", {mask, limit(kMinVisible)});
    const ValueId count = build_("ReduceMax", {as(shown, DType::i32), build_.ints({1})}, {{"keepdims", int64_t{1}}});
    const ValueId none = build_("Equal", {count, build_.scalar(DType::i32, 0)});
    ValueId keep = either(chooses ? mask : negated(hidden), none);
    for (NodeId n : nodes_)
      if (const auto found = packable_.weighted.find(n); found != packable_.weighted.end()) keep = either(keep, is_weighted(found->second));
    return with_gathered_positions(keep);
  }

  ValueId as(ValueId value, DType dtype) { return build_("Cast", {value}, {{"to", static_cast<int64_t>(dtype)}}); }

  ValueId is_weighted(ValueId weights) {
    ir::Ints trailing;
    for (int a = 2; a < graph_.value(weights).type.rank(); ++a) trailing.push_back(a);
    const ValueId flat = build_("Squeeze", {weights, build_.ints(std::move(trailing))});
    return negated(build_("Equal", {flat, build_.scalar(graph_.value(weights).type.dtype, 0)}));
  }

  ValueId with_gathered_positions(ValueId keep) {
    std::set<int64_t> requested_positions;
    for (const auto& [node, positions] : packable_.row_gathers) requested_positions.insert(positions.begin(), positions.end());
    if (requested_positions.empty()) return keep;
    const ValueId size = build_("Shape", {keep}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
    const ValueId length = build_("Squeeze", {size, build_.ints({0})});
    const auto number = [&](int64_t v) { return build_.scalar(DType::i64, static_cast<double>(v)); };
    const ValueId all = build_("Range", {number(0), length, number(1)});
    for (int64_t position : requested_positions) {
      const ValueId from_start = position < 0 ? build_("Add", {length, number(position)}) : number(position);
      keep = either(keep, build_("Equal", {all, from_start}));
    }
    return keep;
  }

  /// The packed rows of a value; packs them here where the producer of the value does not compute packed rows.
  ValueId packed(ValueId value) {
    const auto [at, is_new] = packed_.try_emplace(value);
    if (is_new) at->second = packed_rows_->part(value, Part::row, 0);
    return at->second;
  }

  void pack_row_op(NodeId n, const std::vector<Part>& parts) {
    const Node& node = graph_.node(n);
    const int rank = rules::is_elementwise(node) ? graph_.value(node.outputs[0]).type.rank() : kAnyRank;
    std::vector<ValueId> operands;
    for (size_t k = 0; k < parts.size(); ++k)
      operands.push_back(parts[k] == Part::row ? packed(node.inputs[k]) : packed_rows_->part(node.inputs[k], parts[k], rank));
    const auto results = on_packed_rows(build_, n, std::move(operands));
    if (!build_.status()) return;
    for (size_t k = 0; k < results.size(); ++k)
      if (const ValueId out = graph_.node(n).outputs[k]) packed_[out] = results[k];
    if (packable_.weighted.contains(n)) replacements_.emplace_back(graph_.node(n).outputs[0], packed_rows_->unpacked(results[0]));
  }

  void gather_rows(NodeId n) {
    const ValueId from = graph_.node(n).inputs[0], positions = graph_.node(n).inputs[1], out = graph_.node(n).outputs[0];
    const ValueId rows = build_("Gather", {packed_rows_->packed_indices(), positions}, {{"axis", int64_t{1}}});
    replacements_.emplace_back(out, build_("Gather", {packed(from), rows}, {{"axis", int64_t{0}}}));
  }

  void pack_attention(const MaskedAttention& a) {
    const ir::Type query = graph_.value(a.query).type;
    const ir::Ints heads = {query.dim(2).value(), query.dim(3).value()};
    const int64_t query_count = a.all_rows_are_queries ? 0 : query.dim(1).value();
    const ValueId q = a.all_rows_are_queries ? packed(a.query) : build_("Reshape", {a.query, build_.ints({-1, heads[0], heads[1]})});
    ir::Attributes attributes;
    for (const char* name : {"masked_rows", "scale", "softcap"})
      if (const ir::Attribute* given = graph_.node(a.node).attributes.find(name)) attributes.set(name, *given);
    const ir::Op* op = graph_.ops().find("tenon", "RaggedAttention");
    TENON_ASSERT(op);
    const auto results = build_.many(
        *op,
        {q, packed(a.key), packed(a.value), a.all_rows_are_queries ? packed_rows_->starts() : equal_starts(a.query, query_count),
         packed_rows_->starts(), a.all_rows_are_queries ? packed_rows_->length() : build_.scalar(DType::i64, double(query_count)), mask()},
        1, std::move(attributes));
    if (!build_.status()) return;
    const int64_t value_size = graph_.value(a.value).type.dim(3).value();
    for (const ValueId rows : a.rows) {
      if (a.all_rows_are_queries) packed_[rows] = results[0];
      else replacements_.emplace_back(rows, build_("Reshape", {results[0], build_.ints({-1, query_count, heads[0], value_size})}));
    }
  }

  /// Where the queries of each sequence start, where all sequences have `query_count` of them.
  ValueId equal_starts(ValueId query, int64_t query_count) {
    const auto number = [&](int64_t v) { return build_.scalar(DType::i64, static_cast<double>(v)); };
    const ValueId size = build_("Shape", {query}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    const ValueId end = build_("Add", {build_("Squeeze", {size, build_.ints({0})}), number(1)});
    return build_("Mul", {build_("Range", {number(0), end, number(1)}), number(query_count)});
  }

  /// The mask's element for each packed row.
  ValueId mask() {
    if (!mask_) mask_ = packed_rows_->part(row_axes_of(packable_.mask), Part::row, 0);
    return mask_;
  }

  static constexpr int kAnyRank = 1 << 20;

  Graph& graph_;
  const PackableNodes packable_;
  std::vector<NodeId> nodes_;  ///< of the graph before packing
  ir::Builder build_;
  std::optional<PackedRows> packed_rows_;
  std::unordered_map<ValueId, ValueId> packed_;  ///< by padded value: its packed rows
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  ValueId mask_;
};

}  // namespace

Result<bool> pack_rows(Graph& graph, Context& context) {
  if (!context.options.packs) return false;
  PackableNodes packable = find_packable_nodes(graph, context.options.packs);
  if (!packable.is_profitable()) return false;
  TRY(RowPacker(graph, std::move(packable)).run());
  rewrite::eliminate_dead_code(graph, context.options.rewriting.keep);
  return true;
}

}  // namespace tenon::passes
