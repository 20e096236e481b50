// SPDX-License-Identifier: Apache-2.0
#include "ops/control/scan_of_batch.h"

#include <optional>

#include "ops/core/op.h"
#include "ops/definition/body_builder.h"

namespace tenon::ops {

namespace {

/// Whether the upgrade of the node leaves it unchanged.
bool is_newest(ir::Graph& body, ir::NodeId n, int opset) {
  const OpDef& def = def_of(*body.node(n).op);
  if (!def.upgrade || def.since_version <= opset) return true;
  const ir::Attributes attributes = body.node(n).attributes;
  const std::vector<ir::ValueId> inputs = body.node(n).inputs;
  const size_t nodes = body.node_count();
  return def.upgrade(body, n, opset) && body.node_count() == nodes && body.alive(n) && body.node(n).attributes == attributes &&
         body.node(n).inputs == inputs;
}

/// Whether upgrading changes no op of the body, which is a copy.
bool is_unchanged_since(ir::Graph& body, int opset) {
  for (ir::NodeId n : body.nodes()) {
    if (!is_newest(body, n, opset)) return false;
    for (size_t k = 0; k < body.node(n).bodies.size(); ++k)
      if (!is_unchanged_since(body.body(n, k), opset)) return false;
  }
  return true;
}

/// Builds the scan of one entry, whose sequences end at `length`, i64[].
class EntryLength {
 public:
  EntryLength(ir::Builder& build, ir::ValueId length) : build_(build), zero_(build.ints({0})) {
    end_ = build("Reshape", {length, build.ints({1})});
  }

  /// The elements before the length.
  ir::ValueId cut(ir::ValueId sequence) { return build_("Slice", {sequence, zero_, end_, zero_}); }
  /// The stacked result, padded with zeros to the size of the whole `sequence`.
  ir::ValueId padded(ir::ValueId stacked, ir::ValueId sequence) {
    const ir::ValueId missing = build_("Sub", {rows(sequence), rows(stacked)});
    return build_("Pad", {stacked, build_("Concat", {zero_, missing}, {{"axis", int64_t{0}}}), {}, zero_});
  }

 private:
  ir::ValueId rows(ir::ValueId v) { return build_("Shape", {v}, {{"start", int64_t{0}}, {"end", int64_t{1}}}); }

  ir::Builder& build_;
  ir::ValueId zero_, end_;
};

}  // namespace

Result<void> upgrade_scan(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 9) return {};
  const ir::Node& old = graph.node(node);
  const int64_t sequences = old.attributes.integer("num_scan_inputs", 0);
  const auto given = static_cast<int64_t>(old.explicit_inputs) - 1;
  if (old.bodies.size() != 1 || sequences < 1 || sequences > given)
    return fail(Code::bad_graph, old.name, "Scan of opset 8 has a body, sequence_lens or none, states and at least one sequence")
        .expected("1 body, and num_scan_inputs from 1 to the number of states and sequences")
        .found(std::to_string(old.bodies.size()) + " bodies, num_scan_inputs " + std::to_string(sequences));
  if (!is_unchanged_since(*old.bodies[0].graph->clone_body(graph), opset))
    return fail(Code::not_supported, old.name, "Scan: not supported yet: a body of opset 8 with ops that have changed since");
  std::vector<ir::ValueId> operands(old.inputs.begin() + 1, old.inputs.begin() + old.explicit_inputs);
  const auto states = static_cast<size_t>(given - sequences);
  const size_t results = old.outputs.size();
  ir::Builder build(graph, node);
  BodyBuilder body(build);
  std::vector<ir::ValueId> entry;
  for (ir::ValueId v : operands) {
    Type type = graph.value(v).type;
    if (type.has_rank() && type.rank() > 0) type.shape->erase(type.shape->begin());
    entry.push_back(body.input("x" + std::to_string(entry.size()), std::move(type)));
  }
  std::vector<ir::ValueId> scanned = entry;
  std::optional<EntryLength> length;
  if (old.inputs[0]) {
    operands.push_back(old.inputs[0]);
    length.emplace(body.build, body.input("length", ir::Type(DType::i64, {})));
    for (size_t k = states; k < scanned.size(); ++k) scanned[k] = length->cut(entry[k]);
  }
  std::vector<ir::ValueId> captures;
  for (size_t k = old.explicit_inputs; k < old.inputs.size(); ++k) captures.push_back(body.capture(old.inputs[k]));
  std::vector<ir::ValueId> made =
      body.build.with_body("Scan", scanned, results, old.bodies[0].graph->clone_body(*body.graph), captures,
                           {{"num_scan_inputs", sequences},
                            {"scan_input_directions", old.attributes.ints("directions", Ints(static_cast<size_t>(sequences), 0))}});
  for (size_t k = states; length && k < made.size(); ++k) made[k] = length->padded(made[k], entry.back());
  TRY(body.build.status());
  for (ir::ValueId v : made) body.graph->add_output(v);
  const std::vector<ir::ValueId> all = build.with_body("Scan", operands, results, std::move(body.graph), body.captured,
                                                       {{"num_scan_inputs", static_cast<int64_t>(operands.size())}});
  TRY(build.status());
  for (size_t k = 0; k < results; ++k)
    if (const ir::ValueId before = graph.node(node).outputs[k]; before) TENON_ASSERT(graph.replace_all_uses(before, all[k]));
  graph.erase(node);
  return {};
}

}  // namespace tenon::ops
