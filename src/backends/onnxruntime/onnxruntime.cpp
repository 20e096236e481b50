// SPDX-License-Identifier: Apache-2.0
// Nodes that ONNX Runtime supports, found by creating a session of the one node. A segment is passed as ONNX.
#include <fmt/format.h>

#include <algorithm>

#include "backend/backend.h"
#include "backend/trial_weights.h"
#include "backend/trials.h"
#include "backend/work.h"
#include "backend/zeros.h"
#include "backends/onnxruntime/device/session.h"
#include "backends/onnxruntime/known_defects.h"
#include "import/onnx_detached.h"
#include "ops/core/random_streams.h"
#include "runtime/shared_models.h"

namespace tenon::backends {

namespace {

using namespace onnxruntime;

class Onnxruntime final : public backend::Backend {
 public:
  explicit Onnxruntime(runtime::Libraries libraries) : models_(std::move(libraries)) {}
  std::string_view name() const override { return "onnxruntime"; }
  std::string_view docs() const override { return "ONNX Runtime, a library that is loaded where it is installed"; }

  Result<std::optional<backend::Library>> library() const override {
    const auto api = TRY(models_.api());
    return backend::Library{api->file(), api->version()};
  }

  bool runs_unknown_ops() const override { return true; }

  Result<void> supports(const ir::Graph& graph, ir::NodeId node) const override {
    const auto api = TRY(models_.api());
    const ir::NodeView view = graph.view(node);
    const auto refusal = [&](std::string_view why) {
      return fail(Code::not_supported, view.where(),
                  fmt::format("ONNX Runtime {} does not run {}: {}", api->version(), backend::call_text(view), why));
    };
    if (ops::is_random(graph, node)) return refusal("it draws random numbers, which would not follow the seed of the run");
    if (!backend::has_only_tensors(view)) return refusal("not supported yet: operands and results that are no tensors");
    if (const std::string_view defect = known_defect_in(graph, node); !defect.empty()) return refusal(defect);
    const auto model = import::export_detached(*backend::single_node_graph(graph, node), {.names = false});
    if (!model) return refusal(model.error()->what);
    const std::string why = TRY(refusals_.refusal(model->model, [&] { return refusal_of_runtime(api, *model); }));
    return why.empty() ? Result<void>() : refusal(why);
  }

  /// The estimate of the backend cpu.
  double cost(const ir::Graph& graph, ir::NodeId node) const override {
    const backend::Work work = backend::work_of(graph, node);
    return std::max(work.steps / 16, work.bytes / 10);
  }
  backend::Overheads overheads() const override { return {.launch_ns = 1200}; }

  Result<backend::Artifact> compile(const backend::CompileRequest& request, const backend::Options&) const override {
    auto detached = TRY(import::export_detached(request.graph));
    const auto api = TRY(models_.api());
    if (auto initialised = initialise(api, detached); !initialised)
      return fail(Code::not_supported, "",
                  fmt::format("ONNX Runtime {} does not run the segment: {}", api->version(), initialised.error()->what));
    return backend::Blob{std::move(detached.model), std::move(detached.weights)};
  }

 private:
  /// Makes a session as the device does when an engine is loaded. Errors: ONNX Runtime's.
  static Result<void> initialise(const std::shared_ptr<const Api>& api, const import::Detached& segment) {
    const auto weights = TRY(backend::trial_weights(segment.weights));
    TRY(LoadedModel::make(api, segment.model, weights.tensors, {.prepack = weights.complete}));
    return {};
  }

  /// Why ONNX Runtime refuses the node, with zeros in place of weights; empty: it does not.
  static Result<std::string> refusal_of_runtime(const std::shared_ptr<const Api>& api, const import::Detached& model) {
    const auto zeros = TRY(backend::Zeros::make(model.weights));
    const auto made = LoadedModel::make(api, model.model, zeros.tensors(), {.optimise = false, .prepack = false});
    if (made) return std::string();
    if (made.error().code() != Code::device_failed) return std::unexpected(made.error());
    return made.error()->what;
  }

  runtime::SharedModels<Api, LoadedModel> models_;  ///< only its library is used here, not its models
  backend::RefusalCache refusals_;
};

}  // namespace

BACKEND(onnxruntime) { return std::make_unique<Onnxruntime>(libraries); }

}  // namespace tenon::backends
