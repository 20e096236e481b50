// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_tensor.h"

#include <charconv>

#include <fmt/format.h>

#include "base/checked.h"

namespace tenon::import {
namespace {

constexpr int64_t kCopyBelow = 64 << 10;

/// Keys of external_data: a closed set, so that a file cannot set what the reader did not mean to be set.
struct ExternalEntry {
  std::string_view location;
  int64_t offset = 0;
  std::optional<int64_t> length;
  std::string_view checksum;
};

Result<int64_t> unsigned_number(std::string_view text, std::string_view key, const std::string& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return fail(Code::bad_file, where, fmt::format("external data: '{}' is no size", key))
        .expected("a number from 0 to 2^63-1")
        .found(std::string(text));
  return value;
}

/// A length of 0 means the same as none: up to the end of the file, of which the tensor uses the bytes that its shape needs.
Result<std::optional<int64_t>> length_of(std::string_view text, const std::string& where) {
  const int64_t length = TRY(unsigned_number(text, "length", where));
  return length == 0 ? std::nullopt : std::optional(length);
}

Result<ExternalEntry> external_entry(const OnnxTensor& t, const std::string& where) {
  ExternalEntry out;
  for (const auto& [key, value] : t.entries) {
    if (key == "location") out.location = value;
    else if (key == "offset") out.offset = TRY(unsigned_number(value, key, where));
    else if (key == "length") out.length = TRY(length_of(value, where));
    else if (key == "checksum") out.checksum = value;
    else
      return fail(Code::bad_file, where, "external data has a key that ONNX does not define")
          .expected("location, offset, length or checksum")
          .found(std::string(key));
  }
  if (out.location.empty())
    return fail(Code::bad_file, where, "external data has no location").expected("the entry 'location'").found("no such entry");
  return out;
}

Error outside(const std::string& place, int64_t size, int64_t index) {
  return fail(Code::index_out_of_range, place, "an index of the sparse tensor lies outside")
      .expected(fmt::format("0 to {}", size - 1))
      .found(std::to_string(index));
}

}  // namespace

std::string TensorReader::where(const OnnxTensor& t) const {
  return t.name.empty() ? place_.text(t.message.data()) : fmt::format("tensor '{}'", t.name);
}

Result<TensorReader::Header> TensorReader::header(const OnnxTensor& t) const {
  auto dtype = dtype_from_onnx(t.dtype);
  if (!dtype || *dtype == DType::none)
    return fail(Code::not_supported, where(t), fmt::format("not supported yet: ONNX element type {}", t.dtype))
        .expected("an element type of docs/element-types.md")
        .found(std::to_string(t.dtype));
  if (t.segmented)
    return fail(Code::not_supported, where(t), "not supported yet: a tensor in segments").expected("a whole tensor").found("a segment");
  const auto count = checked_count(t.dims);
  if (!count)
    return fail(Code::size_overflow, where(t), "the shape of the tensor is negative or too large")
        .expected("sizes of 0 or more, fewer than 2^63 elements")
        .found(type_text(*dtype, t.dims));
  // 16 bytes is the widest element: the product below cannot overflow.
  if (*count > limits_.tensor_bytes / 16 && (*count >= int64_t{1} << 57 || bytes_of(*dtype, *count) > limits_.tensor_bytes))
    return fail(Code::limit_exceeded, where(t), "the tensor is too large")
        .expected(fmt::format("at most {} bytes", limits_.tensor_bytes))
        .found(type_text(*dtype, t.dims));
  return Header{*dtype, *count, bytes_of(*dtype, *count)};
}

Result<Tensor> TensorReader::reference(const OnnxTensor& t, const Header& head, std::span<const std::byte> bytes,
                                       const std::shared_ptr<const void>& keeper) const {
  if (static_cast<int64_t>(bytes.size()) != head.bytes)
    return fail(Code::bad_file, where(t), "the data does not fit the shape")
        .expected(fmt::format("{} bytes", head.bytes))
        .found(fmt::format("{} bytes", bytes.size()));
  const int width = std::max(1, is_complex(head.dtype) ? bits_of(head.dtype) / 16 : bits_of(head.dtype) / 8);
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % static_cast<uintptr_t>(width) == 0;
  if (keeper && head.bytes > 0 && (aligned || head.bytes > kCopyBelow)) return Tensor::view(head.dtype, t.dims, bytes.data(), keeper);
  Tensor out = TRY(Tensor::make(head.dtype, t.dims));
  if (head.bytes > 0) std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  return out;
}

Result<Tensor> TensorReader::external(const OnnxTensor& t, const Header& head) {
  const ExternalEntry entry = TRY(external_entry(t, where(t)));
  if (head.dtype == DType::string)
    return fail(Code::bad_file, where(t), "strings cannot be external data").expected("numbers").found("strings");
  if (entry.length.value_or(head.bytes) != head.bytes)
    return fail(Code::bad_file, where(t), "external data does not fit the tensor")
        .expected(fmt::format("{} bytes", head.bytes))
        .found(fmt::format("length {}", *entry.length));
  if (!data_)
    return fail(Code::file_missing, where(t), "external data of a model that has no folder")
        .expected("a model that was read from a file, or a named folder")
        .found(std::string(entry.location))
        .advice("say where it lies: --external-data DIR");
  auto slice = data_->slice(entry.location, static_cast<uint64_t>(entry.offset), static_cast<uint64_t>(head.bytes));
  if (!slice) return std::move(slice).error().at(where(t));
  return reference(t, head, slice->bytes, slice->keeper);
}

Result<ir::ConstantRef> TensorReader::weight(const OnnxTensor& t, bool by_reference) {
  auto tensor = read(t);
  if (tensor) return ir::constant_of(*std::move(tensor));
  if (!by_reference || !t.external || tensor.error().code() != Code::file_missing) return std::unexpected(std::move(tensor).error());
  const ExternalEntry entry = TRY(external_entry(t, where(t)));
  return ir::reference_to({std::string(entry.location), entry.offset, entry.length, std::string(entry.checksum)}, TRY(header(t)).dtype,
                          t.dims);
}

Result<Tensor> TensorReader::read(const OnnxTensor& t) {
  const Header head = TRY(header(t));
  if (t.external) return external(t, head);
  if (t.raw && head.dtype != DType::string && (head.count == 0 || !t.raw->empty()))
    return reference(t, head, std::as_bytes(std::span(*t.raw)), keeper_);
  return read_typed_data(place_, t, head.dtype, head.count);
}

namespace {

/// Indices are places in the flat tensor, or one row of coordinates an element.
Result<void> check_parts(const Tensor& values, const Tensor& indices, int64_t rank, const std::string& place) {
  const int64_t n = values.count();
  const Sizes wanted = indices.rank() == 1 ? Sizes{n} : Sizes{n, rank};
  if (indices.dtype() == DType::i64 && values.rank() == 1 && indices.shape() == wanted) return {};
  return fail(Code::bad_file, place, "a sparse tensor needs one value and one index an element")
      .expected(fmt::format("i64[{}] or i64[{},{}]", n, n, rank))
      .found(type_text(indices.dtype(), indices.shape()));
}

/// The row-major index in the dense tensor of element `i` of a sparse one.
Result<int64_t> dense_place(const Tensor& indices, int64_t i, const Sizes& dims, int64_t count, const std::string& place) {
  const bool linear = indices.rank() == 1;
  const int64_t rank = linear ? 0 : static_cast<int64_t>(dims.size());
  int64_t at = linear ? indices.integer(i) : 0;
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t index = indices.integer(i * rank + k), size = dims[static_cast<size_t>(k)];
    if (index < 0 || index >= size) return outside(place, size, index);
    at = at * size + index;
  }
  if (at < 0 || at >= count) return outside(place, count, at);
  return at;
}

}  // namespace

Result<Tensor> TensorReader::read(const OnnxSparse& s) {
  const std::string place = where(s.values);
  Tensor values = TRY(read(s.values)), indices = TRY(read(s.indices));
  OnnxTensor dense;
  dense.name = s.values.name;
  dense.dims = s.dims;
  dense.dtype = s.values.dtype;
  dense.message = s.values.message;
  const Header head = TRY(header(dense));
  TRY(check_parts(values, indices, static_cast<int64_t>(s.dims.size()), place));
  if (bits_of(head.dtype) < 8 || is_complex(head.dtype))
    return fail(Code::not_supported, place, "not supported yet: sparse tensors of this element type")
        .expected("elements of whole bytes that are not complex")
        .found(std::string(name_of(head.dtype)));
  Tensor out = TRY(Tensor::make(head.dtype, s.dims, kDenseLimit));
  const auto width = static_cast<size_t>(bits_of(head.dtype) / 8);
  for (int64_t i = 0; i < values.count(); ++i) {
    const auto at = static_cast<size_t>(TRY(dense_place(indices, i, s.dims, head.count, place)));
    std::memcpy(out.mutable_data() + at * width, values.data() + static_cast<size_t>(i) * width, width);
  }
  return out;
}

}  // namespace tenon::import
