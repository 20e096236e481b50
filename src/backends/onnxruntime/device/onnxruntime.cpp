// SPDX-License-Identifier: Apache-2.0
// Runs segments in ONNX Runtime, which is opened when an engine needs it.
#include "backends/onnxruntime/device/session.h"
#include "runtime/shared_models.h"
#include "runtime/stop_watcher.h"
#include "runtime/stopping.h"

namespace tenon::backends {
namespace {

using namespace onnxruntime;

class Part final : public runtime::Segment {
 public:
  explicit Part(std::shared_ptr<const LoadedModel> model) : model_(std::move(model)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                  const runtime::RunOptions& options) override {
    for (const Tensor& operand : operands)
      if (operand.dtype() == DType::string) options.copied(operand.count() * static_cast<int64_t>(sizeof(std::string)));
    if (!runtime::may_be_stopped(options)) return model_->run(operands, places, nullptr);
    const Api& api = model_->api();
    const auto run =
        TRY(api.make(function::release_run_options, [&](onnxruntime::RunOptions** out) { return api[function::create_run_options](out); }));
    // Between two of its nodes.
    const runtime::StopWatcher watcher(options, [&] { (void)api.check(api[function::set_terminate](run.get())); });
    auto results = model_->run(operands, places, run.get());
    if (!results) TRY(runtime::check_not_stopped(runtime::requested_stop(options), ""));
    return results;
  }

 private:
  std::shared_ptr<const LoadedModel> model_;
};

class Onnxruntime final : public runtime::Device {
 public:
  explicit Onnxruntime(runtime::Libraries libraries) : models_(std::move(libraries)) {}
  std::string_view name() const override { return "onnxruntime"; }

  Result<void> open() const override {
    TRY(models_.api());
    return {};
  }

  /// A session's Run may be called from several threads.
  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    return std::make_unique<Part>(TRY(models_.of(blob, [&](std::shared_ptr<const Api> api) {
      return LoadedModel::make(std::move(api), blob.bytes, blob.weights, {.threads = blob.threads});
    })));
  }

 private:
  runtime::SharedModels<Api, LoadedModel> models_;
};

}  // namespace

DEVICE(onnxruntime) { return std::make_shared<Onnxruntime>(libraries); }

}  // namespace tenon::backends
