// SPDX-License-Identifier: Apache-2.0
// Nodes that OpenVINO's CPU plugin compiles, found by compiling the one node. A segment is passed as ONNX.
#include <fmt/format.h>

#include <algorithm>

#include "backend/backend.h"
#include "backend/trial_weights.h"
#include "backend/trials.h"
#include "backend/work.h"
#include "backends/openvino/device/model.h"
#include "backends/openvino/known_defects.h"
#include "import/onnx_detached.h"
#include "ops/core/random_streams.h"
#include "runtime/shared_models.h"

namespace tenon::backends {

namespace {

using namespace openvino;

class Openvino final : public backend::Backend {
 public:
  explicit Openvino(runtime::Libraries libraries) : models_(std::move(libraries)) {}
  std::string_view name() const override { return "openvino"; }
  std::string_view docs() const override { return "OpenVINO for CPUs, a library that is loaded where it is installed"; }

  Result<std::optional<backend::Library>> library() const override {
    const auto api = TRY(models_.api());
    return backend::Library{api->file(), api->version()};
  }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const auto api = TRY(models_.api());
    const ir::NodeView view = graph.view(node);
    const auto refusal = [&](std::string_view why) {
      return fail(Code::not_supported, view.where(),
                  fmt::format("OpenVINO {} does not run {}: {}", api->version(), backend::call_text(view), why));
    };
    if (ops::is_random(graph, node)) return refusal("it draws random numbers, which would not follow the seed of the run");
    if (const std::string why = known_defect_in(view); !why.empty()) return refusal(why);
    const auto model = import::export_detached(*backend::single_node_graph(graph, node), {.weights = kWeights, .names = false});
    if (!model) return refusal(model.error()->what);
    const std::string why = TRY(refusals_.refusal(model->model, [&] { return refusal_of_library(api, model->model, {}); }));
    return why.empty() ? Result<void>() : refusal(why);
  }

  /// The estimate of the backend cpu.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }
  backend::Overheads overheads() const override { return {.launch_ns = 8000, .copies_weights = true}; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options&) const override {
    auto detached = TRY(import::export_detached(request.graph, {.weights = kWeights}));
    const auto api = TRY(models_.api());
    const auto weights = TRY(backend::trial_weights(detached.weights));
    if (const std::string why = TRY(refusal_of_library(api, detached.model, weights.tensors)); !why.empty())
      return fail(Code::not_supported, "", fmt::format("OpenVINO {} does not run the segment: {}", api->version(), why));
    return backend::Blob{std::move(detached.model), std::move(detached.weights)};
  }

 private:
  static constexpr auto kWeights = import::DetachOptions::Weights::inputs;

  /// Why OpenVINO refuses the model; empty: it does not. Without `weights` they are inputs of the model.
  static Result<std::string> refusal_of_library(const std::shared_ptr<const Api>& api, std::string_view model,
                                                std::span<const Tensor> weights) {
    const auto made = LoadedModel::make(api, model, weights, 1);
    if (made) return std::string();
    if (made.error().code() != Code::device_failed) return std::unexpected(made.error());
    return made.error()->what;
  }

  runtime::SharedModels<Api, LoadedModel> models_;  ///< only its library is used here, not its models
  backend::RefusalCache refusals_;
};

}  // namespace

BACKEND(openvino) { return std::make_unique<Openvino>(libraries); }

}  // namespace tenon::backends
