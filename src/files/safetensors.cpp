// SPDX-License-Identifier: Apache-2.0
#include "files/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/checked.h"
#include "files/mapped_file.h"

namespace tenon::files {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct Named {
  std::string_view name;
  DType dtype;
};
constexpr Named kDTypes[] = {
    {"BOOL", DType::boolean},   {"U8", DType::u8},          {"I8", DType::i8},    {"U16", DType::u16}, {"I16", DType::i16},
    {"U32", DType::u32},        {"I32", DType::i32},        {"U64", DType::u64},  {"I64", DType::i64}, {"F16", DType::f16},
    {"BF16", DType::bf16},      {"F32", DType::f32},        {"F64", DType::f64},  {"C64", DType::c64}, {"F8_E4M3", DType::f8e4m3fn},
    {"F8_E5M2", DType::f8e5m2}, {"F8_E8M0", DType::f8e8m0}, {"F4", DType::f4e2m1}};

Error bad(const std::string& place, std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, place, "not a sound safetensors file: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found));
}

/// Parses the header; nullopt where a key appears twice, or objects are nested more deeply than in the format.
std::optional<Json> parse_header(std::string_view text) {
  std::set<std::string> names;
  bool sound = true;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    sound &= depth <= 3;
    if (depth == 1 && event == Json::parse_event_t::key) sound &= names.insert(value.get_ref<const std::string&>()).second;
    return sound;
  };
  Json header = Json::parse(text.begin(), text.end(), watch, false);
  if (!sound || !header.is_object()) return std::nullopt;
  return header;
}

std::optional<std::vector<int64_t>> sizes_of(const Json& object, const char* key, size_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() > most) return std::nullopt;
  std::vector<int64_t> out;
  for (const Json& item : *found) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t{1} << 62) return std::nullopt;
    out.push_back(static_cast<int64_t>(item.get<uint64_t>()));
  }
  return out;
}

/// A view of the bytes; a copy where they are not aligned for the dtype, or have no keeper.
Result<Tensor> tensor_at(DType dtype, Sizes shape, std::span<const std::byte> bytes, const std::shared_ptr<const void>& keeper) {
  const auto align = static_cast<uintptr_t>(std::clamp(bits_of(dtype) / 8, 1, 8));
  if (keeper && reinterpret_cast<uintptr_t>(bytes.data()) % align == 0) return Tensor::view(dtype, std::move(shape), bytes.data(), keeper);
  Tensor t = TRY(Tensor::make(dtype, std::move(shape)));
  if (!bytes.empty()) std::memcpy(t.mutable_data(), bytes.data(), bytes.size());
  return t;
}

Result<SafeTensors::Entry> read_entry(const std::string& name, const Json& object, std::span<const std::byte> bytes, uint64_t data,
                                      const std::shared_ptr<const void>& keeper, const std::string& place) {
  const std::string where = place + ":" + name;
  if (!object.is_object()) return bad(where, "an entry is no object", "{dtype, shape, data_offsets}", object.type_name());
  const auto shape = sizes_of(object, "shape", 64), range = sizes_of(object, "data_offsets", 2);
  const auto dtype_name = object.find("dtype");
  if (!shape || !range || range->size() != 2 || dtype_name == object.end() || !dtype_name->is_string())
    return bad(where, "an entry lacks dtype, shape or data_offsets, or they are not valid",
               "a name, at most 64 sizes, and two offsets of 0 or more",
               object.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 200));
  const auto row = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                [&](const Named& d) { return d.name == dtype_name->get_ref<const std::string&>(); });
  if (row == std::end(kDTypes))
    return fail(Code::not_supported, where, "not supported yet: a safetensors dtype")
        .expected("one of those of the format: BOOL, U8 ... U64, I8 ... I64, F4 ... F64, C64")
        .found(dtype_name->get<std::string>().substr(0, 40));
  const auto count = checked_count(*shape);
  const int64_t begin = (*range)[0], end = (*range)[1];
  if (end < begin || static_cast<uint64_t>(end) > bytes.size() - data)
    return bad(where, "a tensor lies outside the file", fmt::format("offsets from 0 to {}", bytes.size() - data),
               fmt::format("[{}, {}]", begin, end));
  if (!count || *count >= int64_t{1} << 56 || bytes_of(row->dtype, *count) != end - begin) {
    return bad(where, "shape and bytes do not fit each other", type_text(row->dtype, *shape), fmt::format("{} bytes", end - begin));
  }
  const uint64_t offset = data + static_cast<uint64_t>(begin);
  const auto piece = bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(end - begin));
  return SafeTensors::Entry{name, TRY(tensor_at(row->dtype, *shape, piece, keeper)), offset};
}

Result<void> read_metadata(const Json& object, SafeTensors& out, const std::string& place) {
  if (!object.is_object()) return bad(place, "__metadata__ is no object", "an object of texts", object.type_name());
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) return bad(place, "__metadata__ holds something else than text", "an object of texts", value.type_name());
    out.metadata[key] = value.get<std::string>();
  }
  return {};
}

Result<void> check_contiguous(const SafeTensors& file, uint64_t data, uint64_t size, const std::string& place) {
  uint64_t end = data;
  for (const SafeTensors::Entry& entry : file.entries) {
    if (entry.offset != end)
      return bad(place + ":" + entry.name, entry.offset < end ? "tensors overlap" : "there is a hole before a tensor",
                 fmt::format("its bytes at {}", end - data), fmt::format("at {}", entry.offset - data));
    end += static_cast<uint64_t>(entry.tensor.byte_size());
  }
  if (end != size) return bad(place, "there are bytes after the last tensor", fmt::format("{} bytes", end), fmt::format("{} bytes", size));
  return {};
}

}  // namespace

const Tensor* SafeTensors::find(std::string_view name) const {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return at == entries.end() ? nullptr : &at->tensor;
}

Result<SafeTensors> read_safetensors(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place) {
  if (bytes.size() < 8) return bad(place, "too short", "at least 8 bytes", fmt::format("{} bytes", bytes.size()));
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeaderBytes)
    return fail(Code::limit_exceeded, place, "the safetensors header is too long")
        .expected("at most 100000000 bytes")
        .found(std::to_string(length));
  if (length > bytes.size() - 8)
    return bad(place, "cut off in its header", fmt::format("a header of {} bytes", length), fmt::format("{} bytes", bytes.size() - 8));
  const auto header = parse_header({reinterpret_cast<const char*>(bytes.data()) + 8, static_cast<size_t>(length)});
  if (!header) return bad(place, "the header does not parse", "a JSON object of tensors, each name once", "something else");
  SafeTensors out;
  const uint64_t data = 8 + length;
  for (const auto& [name, object] : header->items()) {
    if (name == "__metadata__") TRY(read_metadata(object, out, place));
    else out.entries.push_back(TRY(read_entry(name, object, bytes, data, keeper, place)));
  }
  std::sort(out.entries.begin(), out.entries.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.offset, a.tensor.byte_size(), a.name) < std::tuple(b.offset, b.tensor.byte_size(), b.name);
  });
  TRY(check_contiguous(out, data, bytes.size(), place));
  return out;
}

Result<SafeTensors> read_safetensors(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  return read_safetensors(file->bytes(), file, path.string());
}

}  // namespace tenon::files
