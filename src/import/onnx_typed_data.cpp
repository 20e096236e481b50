// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx_tensor.h"

namespace tenon::import {
namespace {

/// Which field of TensorProto holds the elements, and how many bytes of memory one entry of it holds.
struct Storage {
  uint32_t field;
  int entry_bytes;
};

Storage storage_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::c64: return {schema::tensor::kFloatData, 4};
    case DType::f64:
    case DType::c128: return {schema::tensor::kDoubleData, 8};
    case DType::i64: return {schema::tensor::kInt64Data, 8};
    case DType::u32: return {schema::tensor::kUint64Data, 4};
    case DType::u64: return {schema::tensor::kUint64Data, 8};
    case DType::string: return {schema::tensor::kStringData, 0};
    default: return {schema::tensor::kInt32Data, std::max(1, bits_of(dtype) / 8)};  // 4- and 2-bit types: one byte of them an entry
  }
}

/// Writes entries one after the other, and reports excess ones.
struct Sink {
  std::byte* out;
  int64_t left;
  int entry_bytes;
  bool over = false;
  void put(const void* value) {
    if (left < entry_bytes) {
      over = true;
      return;
    }
    std::memcpy(out, value, entry_bytes);
    out += entry_bytes;
    left -= entry_bytes;
  }
};

Result<void> read_entries(ProtoReader& m, uint32_t field, Sink& sink) {
  if (field == schema::tensor::kFloatData) return m.fixed<float>([&](float v) { sink.put(&v); });
  if (field == schema::tensor::kDoubleData) return m.fixed<double>([&](double v) { sink.put(&v); });
  return m.integers([&](int64_t v) { sink.put(&v); });  // little-endian: the low bytes are the value
}

Error wrong_count(const SourcePlace& place, const OnnxTensor& t, int64_t count, std::string found) {
  return fail(Code::bad_file, fmt::format("tensor '{}' ({})", t.name, place.text(t.message.data())), "the data does not fit the shape")
      .expected(fmt::format("{} elements", count))
      .found(std::move(found));
}

Result<Tensor> read_strings(const SourcePlace& place, const OnnxTensor& t, int64_t count) {
  std::vector<std::string> strings;
  ProtoReader m(place, t.message);
  while (TRY(m.next())) {
    if (m.field() == schema::tensor::kStringData) strings.emplace_back(TRY(m.bytes()));
    else TRY(m.skip());
  }
  if (static_cast<int64_t>(strings.size()) != count) return wrong_count(place, t, count, fmt::format("{} elements", strings.size()));
  return Tensor::of_strings(t.dims, std::move(strings));
}

}  // namespace

Result<Tensor> read_typed_data(const SourcePlace& place, const OnnxTensor& t, DType dtype, int64_t count) {
  if (dtype == DType::string) return read_strings(place, t, count);
  const Storage storage = storage_of(dtype);
  const int64_t bytes = bytes_of(dtype, count);
  // Every entry takes a byte of the file at least, so a shape that the file cannot fill is refused before memory is requested.
  if (bytes / storage.entry_bytes > static_cast<int64_t>(t.message.size()))
    return wrong_count(place, t, count, fmt::format("{} bytes in the file", t.message.size()));
  Tensor out = TRY(Tensor::make(dtype, t.dims));
  Sink sink{out.mutable_data(), bytes, storage.entry_bytes};
  ProtoReader m(place, t.message);
  while (TRY(m.next())) {
    if (m.field() == storage.field) TRY(read_entries(m, storage.field, sink));
    else TRY(m.skip());
  }
  if (sink.over || sink.left != 0)
    return wrong_count(place, t, count, sink.over ? "more" : fmt::format("{} elements", (bytes - sink.left) / storage.entry_bytes));
  return out;
}

}  // namespace tenon::import
