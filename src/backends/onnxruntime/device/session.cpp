// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/device/session.h"

namespace tenon::backends::onnxruntime {

namespace {

std::vector<std::string> names(char first, size_t count) {
  std::vector<std::string> out;
  for (size_t k = 0; k < count; ++k) out.push_back(first + std::to_string(k));
  return out;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

std::vector<const Value*> pointers_to(const std::vector<Owned<Value>>& values) {
  std::vector<const Value*> out;
  for (const Owned<Value>& value : values) out.push_back(value.get());
  return out;
}

Error not_fitting(std::string what, size_t expected, size_t found) {
  return fail(Code::bad_file, "backend 'onnxruntime'", std::move(what))
      .expected(std::to_string(expected))
      .found(std::to_string(found))
      .advice("build the engine again");
}

Result<Owned<SessionOptions>> session_options(const Api& api, const LoadedModel::Options& options) {
  auto out =
      TRY(api.make(function::release_session_options, [&](SessionOptions** made) { return api[function::create_session_options](made); }));
  SessionOptions* const o = out.get();
  TRY(api.check(api[function::set_session_logging](o, Logging::fatal)));  // errors come back
  TRY(api.check(api[function::set_intra_op_threads](o, options.threads)));
  TRY(api.check(api[function::set_inter_op_threads](o, 1)));
  TRY(api.check(api[function::set_session_entry](o, "session.intra_op.allow_spinning", "0")));
  TRY(api.check(api[function::set_session_entry](o, "session.use_env_allocators", "1")));  // one arena for all segments
  // Else sums of two products of 8 bits saturate at 16 bits where a CPU has no instruction for them.
  TRY(api.check(api[function::set_session_entry](o, "session.x64quantprecision", "1")));
  TRY(api.check(api[function::disable_memory_pattern](o)));  // kept for each shape that comes by
  TRY(api.check(api[function::set_optimisation](o, options.optimise ? Optimisation::all : Optimisation::none)));
  for (const std::filesystem::path& file : api.custom_ops()) TRY(api.check(api[function::register_custom_ops](o, file.c_str())));
  if (!options.prepack) TRY(api.check(api[function::set_session_entry](o, "session.disable_prepacking", "1")));
  return out;
}

}  // namespace

Result<std::shared_ptr<const LoadedModel>> LoadedModel::make(std::shared_ptr<const Api> api, std::string_view model,
                                                             std::span<const Tensor> weights, const Options& options) {
  const auto out = std::shared_ptr<LoadedModel>(new LoadedModel());
  out->api_ = std::move(api);
  out->weights_.assign(weights.begin(), weights.end());
  for (const Tensor& weight : weights) out->initializers_.push_back(TRY(value_over(*out->api_, weight)));
  // To fold a constant, ONNX Runtime would read its bytes from the file that the model names, which there is none of: that fails.
  if (weights.empty() || !out->load(model, Weights::shared, options)) TRY(out->load(model, Weights::copied, options));
  TRY(out->read_ports());
  return out;
}

Result<void> LoadedModel::load(std::string_view model, Weights how, const Options& options) {
  const Api& api = *api_;
  const auto made = TRY(session_options(api, options));
  const std::vector<std::string> texts = names('w', initializers_.size());
  const std::vector<const char*> initializers = pointers_to(texts);
  if (how == Weights::shared) {
    for (size_t k = 0; k < initializers_.size(); ++k)
      TRY(api.check(api[function::share_initializer](made.get(), initializers[k], initializers_[k].get())));
  } else if (!initializers_.empty()) {
    TRY(api.check(
        api[function::copy_initializers](made.get(), initializers.data(), pointers_to(initializers_).data(), initializers_.size())));
  }
  session_ = TRY(api.make(function::release_session, [&](Session** out) {
    return api[function::create_session](api.env(), model.data(), model.size(), made.get(), out);
  }));
  return {};
}

Result<void> LoadedModel::read_ports() {
  const Api& api = *api_;
  size_t inputs = 0, outputs = 0;
  TRY(api.check(api[function::input_count](session_.get(), &inputs)));
  TRY(api.check(api[function::output_count](session_.get(), &outputs)));
  input_names_ = names('i', inputs);
  output_names_ = names('o', outputs);
  for (size_t k = 0; k < outputs; ++k) {
    const auto type =
        TRY(api.make(function::release_type, [&](TypeInfo** out) { return api[function::output_type](session_.get(), k, out); }));
    const TensorInfo* tensor = nullptr;
    TRY(api.check(api[function::tensor_of_type](type.get(), &tensor)));
    output_types_.push_back(0);
    if (tensor) TRY(api.check(api[function::element_type](tensor, &output_types_.back())));
  }
  return {};
}

/// It writes to a place what its own type says.
Result<void> LoadedModel::check_ports(std::span<const Tensor> operands, std::span<const Tensor> places) const {
  if (operands.size() != input_names_.size())
    return not_fitting("a segment has another number of inputs", operands.size(), input_names_.size());
  if (places.size() != output_names_.size())
    return not_fitting("a segment has another number of results", places.size(), output_names_.size());
  for (size_t k = 0; k < places.size(); ++k)
    if (!places[k].empty_handle() && static_cast<ElementType>(places[k].dtype()) != output_types_[k])
      return not_fitting("a result of a segment has another ONNX element type", static_cast<size_t>(places[k].dtype()),
                         static_cast<size_t>(output_types_[k]));
  return {};
}

Result<std::vector<Tensor>> LoadedModel::run(std::span<const Tensor> operands, std::span<const Tensor> places,
                                             const RunOptions* run) const {
  TRY(check_ports(operands, places));
  const Api& api = *api_;
  std::vector<Owned<Value>> inputs, results;
  for (const Tensor& operand : operands) inputs.push_back(TRY(value_over(api, operand)));
  std::vector<Value*> raw;
  for (const Tensor& place : places) {
    results.emplace_back(nullptr, api[function::release_value]);
    if (!place.empty_handle()) results.back() = TRY(value_over(api, place));
    raw.push_back(results.back().get());
  }
  Status* const status = api[function::run](session_.get(), run, pointers_to(input_names_).data(), pointers_to(inputs).data(),
                                            inputs.size(), pointers_to(output_names_).data(), raw.size(), raw.data());
  for (size_t k = 0; k < raw.size(); ++k)
    if (!results[k]) results[k].reset(raw[k]);
  TRY(api.check(status));
  std::vector<Tensor> out;
  for (size_t k = 0; k < places.size(); ++k)
    out.push_back(places[k].empty_handle() ? TRY(tensor_from(api_, std::move(results[k]), weights_)) : places[k]);
  return out;
}

}  // namespace tenon::backends::onnxruntime
