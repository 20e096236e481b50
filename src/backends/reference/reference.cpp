// SPDX-License-Identifier: Apache-2.0
// Runs everything, slowly: what no other backend takes. A segment travels as text (docs/why/004); its device reads it.
#include "backend/backend.h"
#include "backend/work.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::backends {

namespace {

/// Constants and attributes of at most so many elements are in the text; larger ones are weights of the engine.
constexpr int64_t kMaxInText = 64;

bool is_large(const ir::Value& v) { return v.is_constant() && v.constant->count() > kMaxInText && v.constant->dtype != DType::string; }

/// Moves large constants of the node's bodies to `graph`; the bodies capture them.
void lift_constants(ir::Graph& graph, ir::NodeId node) {
  for (size_t b = 0; b < graph.node(node).bodies.size(); ++b) {
    ir::Graph& body = graph.body(node, b);
    for (ir::NodeId inner : body.nodes()) lift_constants(body, inner);
    for (ir::ValueId v : body.values()) {
      if (!is_large(body.value(v))) continue;
      const ir::ValueId input = graph.add_capture(node, b, graph.add_constant(body.value(v).constant));
      body.set_type(input, body.value(v).type);
      TENON_ASSERT(body.replace_all_uses(v, input));
      body.erase_value(v);
    }
  }
}

/// Makes large constants, those of bodies too, inputs of the graph after the others. Returns them in that order.
std::vector<ir::ConstantRef> extract_constants(ir::Graph& graph) {
  for (ir::NodeId n : graph.nodes()) lift_constants(graph, n);
  std::vector<ir::ConstantRef> weights;
  for (ir::ValueId v : graph.values()) {
    if (!is_large(graph.value(v))) continue;
    weights.push_back(graph.value(v).constant);
    const ir::ValueId input = graph.add_input("weight" + std::to_string(weights.size()), graph.value(v).type);
    TENON_ASSERT(graph.replace_all_uses(v, input));
    graph.erase_value(v);
  }
  return weights;
}

/// Replaces each symbolic size by a symbol of its own: equal names would be checked again when the segment runs.
void forget_size_names(ir::Graph& graph) {
  for (ir::ValueId v : graph.values()) {
    ir::Type type = graph.value(v).type;
    if (!type.shape || graph.value(v).is_constant()) continue;
    for (Dim& d : *type.shape)
      if (!d.is_number()) d = graph.symbols().fresh();
    graph.set_type(v, std::move(type));
  }
}

class Reference final : public backend::Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::string_view docs() const override { return "plain, slow, checked functions: what every other backend is compared with"; }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const ops::OpDef& def = ops::def_of(*graph.node(node).op);
    if (!def.definition && ops::plugin_of(*graph.node(node).op))
      return fail(Code::not_supported, graph.view(node).where(), "only its plugin computes it");
    if (def.reference || def.definition) return {};
    return fail(Code::not_supported, graph.view(node).where(), "it has neither a reference function nor a definition");
  }

  /// Some 50 ns a loop iteration, on a CPU of 3 GHz.
  double cost(const ir::Graph& graph, ir::NodeId node) const override { return 50 * backend::work_of(graph, node).steps; }
  backend::Overheads overheads() const override { return {.own_results = true}; }
  bool is_default() const override { return true; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options&) const override {
    const auto graph = request.graph.clone();
    backend::Blob blob;
    ir::TextConstants constants{extract_constants(*graph)};
    forget_size_names(*graph);
    blob.bytes = ir::print(*graph, &constants, kMaxInText);
    blob.weights = std::move(constants.constants);
    return blob;
  }
};

}  // namespace

BACKEND(reference) { return std::make_unique<Reference>(); }

}  // namespace tenon::backends
