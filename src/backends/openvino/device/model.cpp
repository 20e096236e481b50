// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/device/model.h"

namespace tenon::backends::openvino {

namespace {

// Fields of ONNX's messages.
constexpr uint32_t kGraph = 7, kInitializer = 5, kDims = 1, kDataType = 2, kName = 8, kRawData = 9;

void add_number(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void add_integer(std::string& out, uint32_t field, int64_t value) {
  add_number(out, field << 3);
  add_number(out, static_cast<uint64_t>(value));
}

/// What comes before `size` bytes of a field.
std::string head_of(uint32_t field, size_t size) {
  std::string out;
  add_number(out, field << 3 | 2);
  add_number(out, size);
  return out;
}

}  // namespace

std::string with_weights(std::string_view model, std::span<const Tensor> weights) {
  std::string out(model);
  for (size_t k = 0; k < weights.size(); ++k) {
    const Tensor& w = weights[k];
    std::string tensor;
    for (int64_t size : w.shape()) add_integer(tensor, kDims, size);
    add_integer(tensor, kDataType, static_cast<int64_t>(w.dtype()));
    const std::string name = "w" + std::to_string(k);
    tensor += head_of(kName, name.size()) + name;
    const auto bytes = static_cast<size_t>(w.byte_size());
    tensor += head_of(kRawData, bytes);
    const std::string field = head_of(kInitializer, tensor.size() + bytes);
    out += head_of(kGraph, field.size() + tensor.size() + bytes) + field + tensor;
    out.append(reinterpret_cast<const char*>(w.data()), bytes);
  }
  return out;
}

Result<std::shared_ptr<const LoadedModel>> LoadedModel::make(std::shared_ptr<const Api> api, std::string_view model,
                                                             std::span<const Tensor> weights, int threads) {
  const auto out = std::shared_ptr<LoadedModel>(new LoadedModel());
  const Api& ov = *api;
  out->api_ = std::move(api);
  const std::string bytes = with_weights(model, weights);
  Model* read = nullptr;
  TRY(ov.check(ov->ov_core_read_model_from_memory_buffer(ov.core(), bytes.data(), bytes.size(), nullptr, &read)));
  const Owned<Model> owned(read, ov->ov_model_free);
  const std::string count = std::to_string(threads);
  CompiledModel* compiled = nullptr;
  TRY(ov.check(ov->ov_core_compile_model(ov.core(), read, "CPU", 10, &compiled, "INFERENCE_PRECISION_HINT", "f32", "EXECUTION_MODE_HINT",
                                         "ACCURACY", "PERFORMANCE_HINT", "LATENCY", "NUM_STREAMS", "1", "INFERENCE_NUM_THREADS",
                                         count.c_str())));
  out->compiled_ = Owned<CompiledModel>(compiled, ov->ov_compiled_model_free);
  TRY(ov.check(ov->ov_compiled_model_inputs_size(compiled, &out->inputs_)));
  TRY(ov.check(ov->ov_compiled_model_outputs_size(compiled, &out->outputs_)));
  return out;
}

Result<Owned<Request>> LoadedModel::request() const {
  Request* made = nullptr;
  TRY(api_->check((*api_)->ov_compiled_model_create_infer_request(compiled_.get(), &made)));
  return Owned<Request>(made, (*api_)->ov_infer_request_free);
}

Result<void> LoadedModel::check_ports(size_t operands, size_t results) const {
  const auto differ = [](std::string what, size_t expected, size_t found) {
    return fail(Code::bad_file, "backend 'openvino'", std::move(what))
        .expected(std::to_string(expected))
        .found(std::to_string(found))
        .advice("build the engine again");
  };
  if (operands != inputs_) return differ("a segment has another number of inputs", operands, inputs_);
  if (results != outputs_) return differ("a segment has another number of results", results, outputs_);
  return {};
}

}  // namespace tenon::backends::openvino
