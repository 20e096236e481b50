// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "base/checked.h"
#include "files/gguf_cursor.h"
#include "files/printable.h"

namespace tenon::files {
namespace {

constexpr uint64_t kMaxNameBytes = 65'535;
constexpr uint32_t kMaxRank = 4;
constexpr uint64_t kMinEntryBytes = 8 + 4 + 1;       // an empty key, a type, a byte
constexpr uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;  // an empty name, no sizes, a type, an offset

Error malformed(std::string place, std::string what) { return fail(Code::bad_file, std::move(place), "not a sound GGUF file: " + what); }

Result<uint32_t> read_version(GgufCursor& cursor, const std::string& file) {
  const auto magic = TRY(cursor.number<uint32_t>("its first bytes"));
  if (magic != 0x46554747)
    return fail(Code::bad_file, file, "not a GGUF file")
        .expected("'GGUF' as its first bytes")
        .found(fmt::format("{:#010x}", magic))
        .advice("name a .gguf file");
  const std::string place = cursor.place();
  const auto version = TRY(cursor.number<uint32_t>("the version"));
  if (version == 2 || version == 3) return version;
  const uint32_t swapped = std::byteswap(version);
  if (swapped == 2 || swapped == 3)
    return fail(Code::not_supported, place, "not supported yet: big-endian GGUF files")
        .expected("a little-endian file")
        .found(fmt::format("version {} with its bytes in reverse", swapped))
        .advice("convert the model for little-endian machines");
  return fail(Code::not_supported, place, "not supported yet: this version of GGUF")
      .expected("version 2 or 3")
      .found(fmt::format("version {}", version))
      .advice("convert the model again with a current converter");
}

Result<void> read_metadata(GgufCursor& cursor, uint64_t count, Gguf& out) {
  for (uint64_t k = 0; k < count; ++k) {
    const std::string place = cursor.place();
    const auto key = TRY(cursor.text(kMaxNameBytes, fmt::format("key {} of the metadata", k)));
    const std::string what = "metadata '" + printable(key) + "'";
    const GgufType type = TRY(cursor.type(what));
    const GgufValue value = TRY(cursor.value(type, what));
    if (!out.entry_index.emplace(key, out.metadata.size()).second)
      return malformed(place, what + " appears twice").expected("each key once").found("a second value").advice("write the file again");
    out.metadata.push_back({key, value});
  }
  return {};
}

Result<void> read_alignment(Gguf& out, const std::string& file) {
  const GgufValue* value = out.find("general.alignment");
  if (value == nullptr) return {};
  const auto alignment = value->integer();
  if (!alignment || *alignment <= 0 || !std::has_single_bit(static_cast<uint64_t>(*alignment)) || *alignment > int64_t{1} << 30)
    return malformed(file + ":general.alignment", "the alignment is not valid")
        .expected("a power of two, at most 2^30")
        .found(alignment ? std::to_string(*alignment) : std::string(name_of(value->type)))
        .advice("write the file again");
  out.alignment = static_cast<uint64_t>(*alignment);
  return {};
}

/// Reads the rank and sizes of a tensor; returns them in row-major order.
Result<Sizes> read_shape(GgufCursor& cursor, const std::string& what) {
  const std::string place = cursor.place();
  const auto rank = TRY(cursor.number<uint32_t>("the rank of " + what));
  if (rank > kMaxRank)
    return fail(Code::limit_exceeded, place, what + " has too many sizes")
        .expected(fmt::format("at most {}", kMaxRank))
        .found(std::to_string(rank))
        .advice("the file may be damaged: copy or download it again");
  Sizes shape;
  for (uint32_t d = 0; d < rank; ++d) {
    const auto size = TRY(cursor.number<uint64_t>("the sizes of " + what));
    if (size > INT64_MAX)
      return fail(Code::size_overflow, place, "a size of " + what + " is too large")
          .expected("at most 2^63 - 1")
          .found(std::to_string(size))
          .advice("the file may be damaged: copy or download it again");
    shape.push_back(static_cast<int64_t>(size));
  }
  std::ranges::reverse(shape);
  return shape;
}

/// A tensor's entry in the file, before its range is checked.
struct UncheckedTensor {
  Gguf::Tensor tensor;
  uint64_t offset = 0;  ///< of the bytes, from the start of the file's data section
  uint64_t size = 0;    ///< bytes of the tensor
};

Result<UncheckedTensor> read_tensor_info(GgufCursor& cursor, uint64_t number, const std::string& file) {
  UncheckedTensor out;
  Gguf::Tensor& tensor = out.tensor;
  tensor.name = TRY(cursor.text(kMaxNameBytes, fmt::format("the name of tensor {}", number)));
  const std::string what = "tensor '" + printable(tensor.name) + "'", place = file + ":" + printable(tensor.name);
  tensor.shape = TRY(read_shape(cursor, what));
  const auto type = TRY(cursor.number<uint32_t>("the type of " + what));
  out.offset = TRY(cursor.number<uint64_t>("the offset of " + what));
  auto format = block_format(type);
  if (!format) return std::move(format).error().placed_at(place);
  tensor.format = *format;
  const int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % tensor.format->elements != 0)
    return malformed(place, "its rows are no whole number of blocks")
        .expected(fmt::format("a last size that is a multiple of {}, of {}", tensor.format->elements, tensor.format->name))
        .found(std::to_string(row))
        .advice("convert the model again");
  const auto count = checked_count(tensor.shape);
  const auto bytes = count ? block_bytes(*tensor.format, static_cast<uint64_t>(*count)) : std::nullopt;
  if (!bytes)
    return fail(Code::size_overflow, place, "the product of a tensor's sizes is too large")
        .expected("sizes whose bytes fit 64 bits")
        .found(fmt::format("[{}]", fmt::join(tensor.shape, ", ")))
        .advice("the file may be damaged: copy or download it again");
  out.size = *bytes;
  return out;
}

Result<void> check_range(const UncheckedTensor& tensor_info, uint64_t alignment, uint64_t size, const std::string& place) {
  if (tensor_info.offset % alignment != 0)
    return malformed(place, "a tensor is not aligned")
        .expected(fmt::format("an offset that is a multiple of {}", alignment))
        .found(std::to_string(tensor_info.offset))
        .advice("write the file again");
  if (tensor_info.offset > size || tensor_info.size > size - tensor_info.offset)
    return malformed(place, "a tensor lies outside the file")
        .expected(fmt::format("bytes within the {} of the file's data", size))
        .found(fmt::format("{} bytes at {}", tensor_info.size, tensor_info.offset))
        .advice("the file may be cut off: copy or download it again");
  return {};
}

Result<void> check_overlaps(const std::vector<UncheckedTensor>& unchecked, const std::string& file) {
  std::vector<const UncheckedTensor*> order;
  for (const UncheckedTensor& tensor_info : unchecked) {
    if (tensor_info.size > 0) order.push_back(&tensor_info);
  }
  std::ranges::sort(order, {}, &UncheckedTensor::offset);
  for (size_t k = 1; k < order.size(); ++k) {
    const UncheckedTensor &a = *order[k - 1], &b = *order[k];
    if (b.offset < a.offset + a.size)
      return malformed(file + ":" + printable(b.tensor.name), "tensors overlap")
          .expected(fmt::format("an offset of {} or more, behind tensor '{}'", a.offset + a.size, printable(a.tensor.name)))
          .found(std::to_string(b.offset))
          .advice("write the file again");
  }
  return {};
}

Result<void> read_tensors(GgufCursor& cursor, uint64_t count, std::span<const std::byte> bytes, Gguf& out, const std::string& file) {
  std::vector<UncheckedTensor> unchecked;
  for (uint64_t k = 0; k < count; ++k) {
    unchecked.push_back(TRY(read_tensor_info(cursor, k, file)));
    const std::string_view name = unchecked.back().tensor.name;
    if (!out.tensor_index.emplace(name, k).second)
      return malformed(file + ":" + printable(name), "two tensors have the same name")
          .expected("each name once")
          .found("a second tensor")
          .advice("write the file again");
  }
  const uint64_t padding = (out.alignment - cursor.offset() % out.alignment) % out.alignment;
  const uint64_t begin = std::min<uint64_t>(cursor.offset() + padding, bytes.size());
  for (const UncheckedTensor& tensor_info : unchecked)
    TRY(check_range(tensor_info, out.alignment, bytes.size() - begin, file + ":" + printable(tensor_info.tensor.name)));
  TRY(check_overlaps(unchecked, file));
  for (UncheckedTensor& tensor_info : unchecked) {
    tensor_info.tensor.offset = begin + tensor_info.offset;
    tensor_info.tensor.bytes = bytes.subspan(static_cast<size_t>(tensor_info.tensor.offset), static_cast<size_t>(tensor_info.size));
    out.tensors.push_back(std::move(tensor_info.tensor));
  }
  return {};
}

}  // namespace

int64_t Gguf::Tensor::count() const { return *checked_count(shape); }

const GgufValue* Gguf::find(std::string_view key) const {
  const auto at = entry_index.find(key);
  return at == entry_index.end() ? nullptr : &metadata[at->second].value;
}

const Gguf::Tensor* Gguf::find_tensor(std::string_view name) const {
  const auto at = tensor_index.find(name);
  return at == tensor_index.end() ? nullptr : &tensors[at->second];
}

std::string_view Gguf::architecture() const {
  const GgufValue* value = find("general.architecture");
  return value == nullptr ? "" : value->text().value_or("");
}

bool is_gguf(const std::filesystem::path& path) {
  char magic[4] = {};
  return std::ifstream(path, std::ios::binary).read(magic, 4) && std::string_view(magic, 4) == "GGUF";
}

Result<Gguf> read_gguf(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& file) {
  GgufCursor cursor(bytes, file);
  Gguf out;
  out.version = TRY(read_version(cursor, file));
  const auto tensors = TRY(cursor.count(kMinTensorBytes, "the number of tensors"));
  const auto entries = TRY(cursor.count(kMinEntryBytes, "the number of metadata entries"));
  TRY(read_metadata(cursor, entries, out));
  TRY(read_alignment(out, file));
  TRY(read_tensors(cursor, tensors, bytes, out, file));
  out.files = {file};
  if (keeper) out.keepers.push_back(std::move(keeper));
  return out;
}

}  // namespace tenon::files
