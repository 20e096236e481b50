// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_detached.h"

#include <unordered_map>

#include "import/export_writer.h"
#include "import/onnx_export.h"

namespace tenon::import {

namespace {

/// The location of external data in a detached model: the current folder, which cannot be read as a file, so that a runtime that tries to
/// read a weight fails.
constexpr std::string_view kNoFile = ".";

bool is_large(const ir::Value& v) {
  return v.is_constant() && !v.uses.empty() && v.constant->dtype != DType::string && v.constant->byte_size() >= kExternalThreshold;
}

class Detaching {
 public:
  explicit Detaching(const DetachOptions& options) : options_(options) {}

  void run(ir::Graph& graph) {
    forget_names(graph);
    graph.name.clear();
    for (uint32_t k = 0; k < graph.inputs().size(); ++k) graph.set_name(graph.inputs()[k], "i" + std::to_string(k));
    for (uint32_t k = 0; k < graph.outputs().size(); ++k) graph.set_output_name(k, "o" + std::to_string(k));
    if (options_.weights == DetachOptions::Weights::inputs) make_inputs(graph);
    else refer(graph);
  }
  std::vector<ir::ConstantRef> take_weights() { return std::move(weights_); }

 private:
  void forget_names(ir::Graph& graph) {
    for (ir::ValueId v : graph.values()) graph.set_name(v, {});
    for (ir::NodeId n : graph.nodes()) {
      if (!options_.names) {
        graph.set_name(n, {});
        graph.set_provenance(n, nullptr);
      }
      for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) forget_names(graph.body(n, b));
    }
  }

  std::string next_name(const ir::ConstantRef& weight) {
    weights_.push_back(weight);
    return "w" + std::to_string(weights_.size() - 1);
  }

  void replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to) {
    TENON_ASSERT(graph.replace_all_uses(from, to));
    graph.erase_value(from);
  }

  void refer(ir::Graph& graph) {
    for (ir::ValueId v : graph.values()) {
      if (!is_large(graph.value(v))) continue;
      const ir::ConstantRef weight = graph.value(v).constant;
      auto [known, fresh] = references_.try_emplace(weight.get());
      std::string name;
      if (fresh) {
        known->second = ir::reference_to({.location = std::string(kNoFile), .offset = 0, .length = weight->byte_size(), .checksum = {}},
                                         weight->dtype, weight->shape);
        name = next_name(weight);
      }
      replace(graph, v, graph.add_constant(known->second, std::move(name)));
    }
    for (ir::NodeId n : graph.nodes())
      for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) refer(graph.body(n, b));
  }

  void make_inputs(ir::Graph& graph) {
    std::unordered_map<const ir::Constant*, ir::ValueId> inputs;
    for (ir::ValueId v : graph.values()) {
      if (!is_large(graph.value(v))) continue;
      const ir::ConstantRef weight = graph.value(v).constant;
      auto [known, fresh] = inputs.try_emplace(weight.get());
      if (fresh) known->second = graph.add_input(next_name(weight), graph.value(v).type);
      replace(graph, v, known->second);
    }
  }

  const DetachOptions& options_;
  std::vector<ir::ConstantRef> weights_;
  std::unordered_map<const ir::Constant*, ir::ConstantRef> references_;
};

}  // namespace

Result<Detached> export_detached(const ir::Graph& graph, const DetachOptions& options) {
  const auto copy = graph.clone();
  Detaching detaching(options);
  detaching.run(*copy);
  ExportOptions exporting;
  exporting.value_info = false;
  Detached out;
  out.model = TRY(export_onnx_bytes(*copy, exporting));
  out.weights = detaching.take_weights();
  return out;
}

}  // namespace tenon::import
