// SPDX-License-Identifier: Apache-2.0
#include "plugin/given_tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/checked.h"

namespace tenon::plugin {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 45;

Error bad_tensor(std::string place, std::string what) { return fail(Code::bad_input, std::move(place), std::move(what)); }

Result<void> check(const tenon_tensor* t, const std::string& place) {
  if (!t) return bad_tensor(place, "it is missing: a null pointer").expected("as many tensors as the graph has").found("null");
  if (t->dtype == TENON_NO_DTYPE || !dtype_from_onnx(t->dtype) || bits_of(static_cast<DType>(t->dtype)) == 0)
    return bad_tensor(place, "there is no such dtype").expected("a tenon_dtype").found(std::to_string(t->dtype));
  if (t->rank < 0 || t->rank > TENON_MAX_RANK)
    return bad_tensor(place, "there is no such rank").expected(fmt::format("0 to {}", TENON_MAX_RANK)).found(std::to_string(t->rank));
  if (t->rank > 0 && !t->sizes) return bad_tensor(place, "its sizes are missing").expected("a size an axis").found("null");
  if (t->layout != TENON_ROW_MAJOR || t->strides)
    return fail(Code::not_supported, place, "not supported yet: tensors of inner graphs that are not row-major")
        .expected("layout TENON_ROW_MAJOR, no strides")
        .found(t->strides ? "strides" : fmt::format("layout {}", t->layout));
  const std::span<const int64_t> sizes(t->sizes, static_cast<size_t>(t->rank));
  const auto count = checked_count(sizes);
  if (!count || *count > kMostElements)
    return bad_tensor(place, "there are no such sizes")
        .expected("sizes from 0, of at most 2^45 elements")
        .found(fmt::format("[{}]", fmt::join(sizes, ",")));
  if (*count > 0 && !t->data) return bad_tensor(place, "it has no elements").expected("data").found("null");
  return {};
}

}  // namespace

Result<Tensor> given_tensor(const tenon_tensor* t, const std::string& place) {
  TRY(check(t, place));
  return Tensor::view(static_cast<DType>(t->dtype), Sizes(t->sizes, t->sizes + t->rank), t->data, nullptr);
}

}  // namespace tenon::plugin
