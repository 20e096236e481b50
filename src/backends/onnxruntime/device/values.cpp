// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/device/values.h"

#include <algorithm>
#include <cstring>

namespace tenon::backends::onnxruntime {

namespace {

Result<Owned<Value>> strings_of(const Api& api, const Tensor& tensor) {
  Allocator* allocator = nullptr;
  TRY(api.check(api[function::default_allocator](&allocator)));
  Owned<Value> out = TRY(api.make(function::release_value, [&](Value** made) {
    return api[function::create_tensor](allocator, tensor.shape().data(), tensor.shape().size(), static_cast<ElementType>(DType::string),
                                        made);
  }));
  for (size_t k = 0; k < tensor.strings().size(); ++k) {
    const std::string& text = tensor.strings()[k];
    char* place = nullptr;
    TRY(api.check(api[function::string_buffer](out.get(), k, text.size(), &place)));
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
  }
  return out;
}

struct Info {
  ElementType type = 0;
  Sizes shape;
};

Result<Info> info_of(const Api& api, const Value& value) {
  const auto info = TRY(api.make(function::release_tensor_info, [&](TensorInfo** out) { return api[function::tensor_info](&value, out); }));
  Info out;
  size_t rank = 0;
  TRY(api.check(api[function::element_type](info.get(), &out.type)));
  TRY(api.check(api[function::rank](info.get(), &rank)));
  out.shape.resize(rank);
  TRY(api.check(api[function::sizes](info.get(), out.shape.data(), rank)));
  return out;
}

Result<Tensor> strings_from(const Api& api, const Value& value, Sizes shape) {
  Tensor out = TRY(Tensor::make(DType::string, std::move(shape)));
  const auto count = static_cast<size_t>(out.count());
  if (count == 0) return out;
  size_t bytes = 0;
  TRY(api.check(api[function::string_bytes](&value, &bytes)));
  std::string text(bytes, '\0');
  std::vector<size_t> begins(count);
  TRY(api.check(api[function::string_content](&value, text.data(), bytes, begins.data(), count)));
  begins.push_back(bytes);
  for (size_t k = 0; k < count; ++k) out.mutable_strings()[k] = text.substr(begins[k], begins[k + 1] - begins[k]);
  return out;
}

bool lies_in(const Tensor& tensor, const Tensor& memory) {
  return tensor.data() >= memory.data() && tensor.data() < memory.data() + memory.byte_size();
}

}  // namespace

Result<Owned<Value>> value_over(const Api& api, const Tensor& tensor) {
  if (tensor.dtype() == DType::string) return strings_of(api, tensor);
  alignas(64) static constexpr std::byte kNothing[64] = {};  // null is refused
  void* const data = const_cast<std::byte*>(tensor.byte_size() > 0 ? tensor.data() : kNothing);
  return api.make(function::release_value, [&](Value** out) {
    return api[function::create_tensor_over](api.memory(), data, static_cast<size_t>(tensor.byte_size()), tensor.shape().data(),
                                             tensor.shape().size(), static_cast<ElementType>(tensor.dtype()), out);
  });
}

Result<Tensor> tensor_from(std::shared_ptr<const Api> api, Owned<Value> value, std::span<const Tensor> weights) {
  Info info = TRY(info_of(*api, *value));
  if (info.type == static_cast<ElementType>(DType::string)) return strings_from(*api, *value, std::move(info.shape));
  const auto dtype = dtype_from_onnx(info.type);
  if (!dtype) return fail(Code::not_supported, "", "ONNX Runtime gave elements of ONNX type " + std::to_string(info.type));
  void* data = nullptr;
  TRY(api->check((*api)[function::tensor_data](value.get(), &data)));
  struct Keeper {
    std::shared_ptr<const Api> api;  // outlives the value
    Owned<Value> value;
  };
  const Tensor out = Tensor::view(*dtype, std::move(info.shape), data, std::make_shared<Keeper>(std::move(api), std::move(value)));
  if (std::ranges::none_of(weights, [&](const Tensor& w) { return lies_in(out, w); })) return out;
  Tensor copy = TRY(Tensor::make(out.dtype(), out.shape()));
  std::memcpy(copy.mutable_data(), out.data(), static_cast<size_t>(out.byte_size()));
  return copy;
}

}  // namespace tenon::backends::onnxruntime
