// SPDX-License-Identifier: Apache-2.0
// Runs segments in OpenVINO, which is opened when an engine needs it.
#include <algorithm>
#include <cstring>

#include "backends/openvino/device/model.h"
#include "runtime/shared_models.h"
#include "runtime/stop_watcher.h"
#include "runtime/stopping.h"

namespace tenon::backends {
namespace {

using namespace openvino;

class Part final : public runtime::Segment {
 public:
  Part(std::shared_ptr<const LoadedModel> model, Owned<Request> request) : model_(std::move(model)), request_(std::move(request)) {}

  Result<std::vector<Tensor>> run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                  const runtime::RunOptions& options) override {
    TRY(model_->check_ports(operands.size(), places.size()));
    // A request keeps the places that it was given, and a place without elements fits results of all sizes.
    if (std::ranges::none_of(places, is_empty)) return run_in(*request_, operands, places, options);
    const Owned<Request> request = TRY(model_->request());
    return run_in(*request, operands, places, options);
  }

 private:
  static bool is_empty(const Tensor& place) { return !place.empty_handle() && place.count() == 0; }

  Result<std::vector<Tensor>> run_in(Request& request, std::span<const Tensor> operands, std::span<const Tensor> places,
                                     const runtime::RunOptions& options) {
    for (size_t k = 0; k < operands.size(); ++k) TRY(give(request, &Functions::ov_infer_request_set_input_tensor_by_index, k, operands[k]));
    for (size_t k = 0; k < places.size(); ++k)
      if (!places[k].empty_handle() && !is_empty(places[k]))
        TRY(give(request, &Functions::ov_infer_request_set_output_tensor_by_index, k, places[k]));
    TRY(infer(request, options));
    std::vector<Tensor> out;
    for (size_t k = 0; k < places.size(); ++k) out.push_back(TRY(result(request, k, places[k])));
    return out;
  }

  Result<void> infer(Request& request, const runtime::RunOptions& options) {
    const Api& ov = model_->api();
    const runtime::StopWatcher watcher(options, [&] { ov->ov_infer_request_cancel(&request); });
    auto ran = ov.check(ov->ov_infer_request_infer(&request));
    if (!ran) TRY(runtime::check_not_stopped(runtime::requested_stop(options), ""));
    return ran;
  }

  /// The request reads an operand, or writes a result, where it lies.
  Result<void> give(Request& request, Status (*Functions::*set)(Request*, size_t, const Value*), size_t index, const Tensor& tensor) {
    const Api& ov = model_->api();
    Sizes sizes = tensor.shape();
    alignas(64) static constexpr std::byte kNothing[64] = {};  // null is refused
    void* const data = const_cast<std::byte*>(tensor.byte_size() > 0 ? tensor.data() : kNothing);
    Value* value = nullptr;
    TRY(ov.check(ov->ov_tensor_create_from_host_ptr(element_type(tensor.dtype()), {static_cast<int64_t>(sizes.size()), sizes.data()}, data,
                                                    &value)));
    const Owned<Value> owned(value, ov->ov_tensor_free);
    return ov.check((ov.operator->()->*set)(&request, index, value));
  }

  /// The place where it was written. What has another shape than its place, or none, is copied: the request writes over it when it runs
  /// again.
  Result<Tensor> result(Request& request, size_t index, const Tensor& place) {
    const Api& ov = model_->api();
    Value* value = nullptr;
    TRY(ov.check(ov->ov_infer_request_get_output_tensor_by_index(&request, index, &value)));
    const Owned<Value> owned(value, ov->ov_tensor_free);
    Sizes sizes = TRY(sizes_of(*value));
    if (!place.empty_handle() && place.shape() == sizes) return place;
    ElementType type = 0;
    TRY(ov.check(ov->ov_tensor_get_element_type(value, &type)));
    Tensor out = TRY(Tensor::make(TRY(dtype_of(type)), std::move(sizes)));
    if (out.byte_size() == 0) return out;
    void* data = nullptr;
    TRY(ov.check(ov->ov_tensor_data(value, &data)));
    std::memcpy(out.mutable_data(), data, static_cast<size_t>(out.byte_size()));
    return out;
  }

  Result<Sizes> sizes_of(const Value& value) {
    const Api& ov = model_->api();
    Shape shape{};
    const Status status = ov->ov_tensor_get_shape(&value, &shape);
    if (status == kInvalidParameter) return Sizes();  // it has no words for the shape of a scalar
    TRY(ov.check(status));
    Sizes out(shape.sizes, shape.sizes + shape.rank);
    ov->ov_shape_free(&shape);
    return out;
  }

  static Result<DType> dtype_of(ElementType type) {
    for (const DType d :
         {DType::boolean, DType::bf16, DType::f16, DType::f32, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16})
      if (element_type(d) == type) return d;
    return fail(Code::not_supported, "", "OpenVINO gave elements of its type " + std::to_string(type));
  }

  std::shared_ptr<const LoadedModel> model_;
  Owned<Request> request_;
};

class Openvino final : public runtime::Device {
 public:
  explicit Openvino(runtime::Libraries libraries) : models_(std::move(libraries)) {}
  std::string_view name() const override { return "openvino"; }

  Result<void> open() const override {
    TRY(models_.api());
    return {};
  }

  Result<std::unique_ptr<runtime::Segment>> make(const runtime::BlobView& blob) const override {
    auto model = TRY(models_.of(
        blob, [&](std::shared_ptr<const Api> api) { return LoadedModel::make(std::move(api), blob.bytes, blob.weights, blob.threads); }));
    Owned<Request> request = TRY(model->request());
    return std::make_unique<Part>(std::move(model), std::move(request));
  }

 private:
  runtime::SharedModels<Api, LoadedModel> models_;
};

}  // namespace

DEVICE(openvino) { return std::make_shared<Openvino>(libraries); }

}  // namespace tenon::backends
