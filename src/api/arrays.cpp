// SPDX-License-Identifier: Apache-2.0
#include "api/arrays.h"

#include <cstring>

#include "base/checked.h"

namespace tenon::inline v1 {

namespace {

size_t bytes_of_array(base::DType dtype, int64_t count) {
  return dtype == base::DType::string ? static_cast<size_t>(count) * sizeof(std::string)
                                      : static_cast<size_t>(base::bytes_of(dtype, count));
}

base::DType dtype_of_kind(ValueKind kind) {
  if (kind == ValueKind::map) return base::DType::map;
  return kind == ValueKind::sequence ? base::DType::sequence : base::DType::optional;
}

}  // namespace

base::Result<base::Tensor> tensor_of(const Array& array, const std::string& name) {
  if (array.kind() != ValueKind::tensor) {
    std::vector<base::Tensor> elements;
    for (const Array& e : array.elements()) elements.push_back(TRY(tensor_of(e, name)));
    const base::DType kind = dtype_of_kind(array.kind());
    if (kind == base::DType::map && !base::are_keys_and_values(elements[0], elements[1]))
      return base::fail(base::Code::bad_input, "input '" + name + "'", "a map's keys and values do not fit each other")
          .expected("keys i64[n] or string[n], and n values")
          .found(base::type_text(elements[0]) + " and " + base::type_text(elements[1]));
    return base::Tensor::of_elements(kind, std::move(elements));
  }
  const auto dtype = array.dtype();
  const std::string place = "input '" + name + "'";
  const auto count = checked_count(array.shape());
  if (dtype == base::DType::none)
    return base::fail(base::Code::bad_input, place, "the array has no element type").expected("a dtype").found("none");
  if (!count || *count >= int64_t{1} << 56)
    return base::fail(base::Code::bad_input, place, "a size is negative or too large")
        .expected("sizes of 0 or more, fewer than 2^56 elements")
        .found(base::type_text(dtype, array.shape()));
  const size_t bytes = bytes_of_array(dtype, *count);
  if (bytes != array.byte_size() || (bytes > 0 && array.data() == nullptr))
    return base::fail(base::Code::bad_input, place, "the array's memory does not fit its shape")
        .expected(std::to_string(bytes) + " bytes for " + base::type_text(dtype, array.shape()))
        .found(std::to_string(array.byte_size()) + " bytes");
  if (dtype != base::DType::string) return base::Tensor::view(dtype, array.shape(), array.data(), nullptr);
  const auto strings = array.as<std::string>();
  return base::Tensor::of_strings(array.shape(), {strings.begin(), strings.end()});
}

namespace {

Array array_of_elements(base::DType kind, std::vector<Array> elements) {
  if (kind == base::DType::sequence) return Array::sequence(std::move(elements));
  if (kind == base::DType::map) return Array::map(std::move(elements[0]), std::move(elements[1]));
  return elements.empty() ? Array::optional() : Array::optional(std::move(elements[0]));
}

}  // namespace

Array view_of(const base::Tensor& t) {
  if (t.holds_tensors()) {
    std::vector<Array> elements;
    for (const base::Tensor& e : t.elements()) elements.push_back(view_of(e));
    return array_of_elements(t.dtype(), std::move(elements));
  }
  const void* data = t.dtype() == base::DType::string ? static_cast<const void*>(t.strings().data()) : t.data();
  return {t.dtype(), t.shape(), data, bytes_of_array(t.dtype(), t.count())};
}

base::Result<Array> owned_array(const base::Tensor& t) {
  if (t.holds_tensors()) {
    std::vector<Array> elements;
    for (const base::Tensor& e : t.elements()) elements.push_back(TRY(owned_array(e)));
    return array_of_elements(t.dtype(), std::move(elements));
  }
  TRY(base::check_on_host(t, "result"));
  const size_t bytes = bytes_of_array(t.dtype(), t.count());
  const auto dtype = t.dtype();
  if (t.dtype() == base::DType::string) {
    auto strings = std::make_shared<std::vector<std::string>>(t.strings());
    return Array(dtype, t.shape(), strings->data(), bytes, strings);
  }
  if (t.keeper()) return Array(dtype, t.shape(), t.data(), bytes, t.keeper());
  base::Tensor copy = TRY(base::Tensor::make(t.dtype(), t.shape()));
  if (bytes > 0) std::memcpy(copy.mutable_data(), t.data(), bytes);
  return Array(dtype, copy.shape(), copy.data(), bytes, copy.keeper());
}

}  // namespace tenon::inline v1
