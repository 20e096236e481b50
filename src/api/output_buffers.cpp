// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <ranges>

#include "base/checked.h"
#include "base/dtype.h"

#include "api/output_buffers.h"

namespace tenon::inline v1 {

namespace {

std::string place_of(const std::string& name) { return "output '" + name + "'"; }

std::string text_of(DType dtype, const std::vector<int64_t>& shape) {
  return fmt::format("{}[{}]", base::name_of(dtype), fmt::join(shape, ","));
}

}  // namespace

base::Result<void> check_buffer_type(const OutputBuffer& buffer, const Port& port) {
  if (port.kind != ValueKind::tensor || port.dtype == DType::string)
    return base::fail(base::Code::bad_input, place_of(port.name), "not supported yet: memory of the caller's for this output")
        .expected("an output that is a tensor of numbers")
        .found(port.dtype == DType::string ? "a tensor of strings" : "a sequence, an optional or a map")
        .advice("take the returned value");
  if (buffer.dtype != port.dtype)
    return base::fail(base::Code::bad_input, place_of(port.name), "the memory has another element type")
        .expected(std::string(base::name_of(port.dtype)))
        .found(std::string(base::name_of(buffer.dtype)));
  return {};
}

base::Result<void> check_buffer(const OutputBuffer& buffer, const Port& port) {
  TRY(check_buffer_type(buffer, port));
  const auto count = checked_count(buffer.shape);
  if (!count || *count > int64_t{1} << 50 || buffer.bytes != static_cast<size_t>(base::bytes_of(buffer.dtype, *count)))
    return base::fail(base::Code::bad_input, place_of(port.name), "the memory's byte size does not fit its type and shape")
        .expected(text_of(buffer.dtype, buffer.shape))
        .found(fmt::format("{} bytes", buffer.bytes));
  if (buffer.data == nullptr && buffer.bytes > 0)
    return base::fail(base::Code::bad_input, place_of(port.name), "the memory is missing")
        .expected(fmt::format("{} bytes", buffer.bytes))
        .found("a null pointer");
  return {};
}

namespace {

bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto from_a = reinterpret_cast<uintptr_t>(a), from_b = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && from_a < from_b + b_bytes && from_b < from_a + a_bytes;
}

bool reads(const Array& array, const OutputBuffer& buffer) {
  if (overlap(array.data(), array.byte_size(), buffer.data, buffer.bytes)) return true;
  return std::ranges::any_of(array.elements(), [&](const Array& element) { return reads(element, buffer); });
}

}  // namespace

base::Result<std::vector<OutputBuffer>> buffers_in_order(const OutputBuffers& named, std::span<const Port> ports) {
  std::vector<OutputBuffer> out(ports.size());
  for (const auto& [name, buffer] : named) {
    const auto port = std::ranges::find(ports, name, &Port::name);
    if (port == ports.end())
      return base::fail(base::Code::bad_input, place_of(name), "the model has no such output")
          .expected(fmt::format("{}", fmt::join(ports | std::views::transform(&Port::name), ", ")))
          .found(name);
    TRY(check_buffer(buffer, *port));
    out[static_cast<size_t>(port - ports.begin())] = buffer;
  }
  return out;
}

base::Result<void> check_overlaps(std::span<const Array> inputs, std::span<const OutputBuffer> buffers) {
  const auto refuse = [](const char* with) {
    return base::fail(base::Code::bad_usage, "outputs", "the memory of an output overlaps other memory of the run")
        .expected("memory that only this output uses")
        .found(with);
  };
  for (size_t k = 0; k < buffers.size(); ++k) {
    if (std::ranges::any_of(inputs, [&](const Array& input) { return reads(input, buffers[k]); })) return refuse("bytes of an input");
    for (size_t other = 0; other < k; ++other)
      if (overlap(buffers[k].data, buffers[k].bytes, buffers[other].data, buffers[other].bytes)) return refuse("bytes of another output");
  }
  return {};
}

base::Result<void> check_shape(const OutputBuffer& buffer, const std::vector<int64_t>& shape, const std::string& name) {
  if (buffer.data == nullptr || buffer.shape == shape) return {};
  return base::fail(base::Code::bad_input, place_of(name), "the memory has another shape than the result")
      .expected(text_of(buffer.dtype, shape))
      .found(text_of(buffer.dtype, buffer.shape));
}

base::Result<Array> moved_into(const OutputBuffer& buffer, const base::Tensor& t, const std::string& name) {
  TRY(check_shape(buffer, t.shape(), name));
  const auto bytes = static_cast<size_t>(t.byte_size());
  if (bytes > 0 && t.data() != buffer.data) std::memcpy(buffer.data, t.data(), bytes);
  return Array(t.dtype(), t.shape(), buffer.data, bytes);
}

}  // namespace tenon::inline v1
