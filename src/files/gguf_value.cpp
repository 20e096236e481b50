// SPDX-License-Identifier: Apache-2.0
#include "files/gguf_value.h"

#include <algorithm>
#include <cstring>

#include "files/gguf_cursor.h"

namespace tenon::files {
namespace {

template <class T>
T load(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// Calls visit(element), which returns whether to continue, for the first `max_count` elements of an array.
template <class Visit>
void visit_elements(const GgufValue& array, uint64_t max_count, Visit visit) {
  GgufCursor cursor(array.bytes, "");
  for (uint64_t k = 0; k < std::min(array.count, max_count); ++k) {
    const auto value = cursor.value(array.element, "an element");
    TENON_ASSERT(value.has_value());  // the reader has walked the same bytes
    if (!visit(*value)) return;
  }
}

/// get(element) of each element of an array; nullopt where the value is no array, or get() gives nullopt for an element. Takes no memory
/// beside the result.
template <class T, class Get>
std::optional<std::vector<T>> map_elements(const GgufValue& value, Get get) {
  if (value.type != GgufType::array) return std::nullopt;
  std::optional<std::vector<T>> out(std::in_place);
  visit_elements(value, UINT64_MAX, [&](const GgufValue& element) {
    if (const auto got = get(element)) out->push_back(*got);
    else out.reset();
    return out.has_value();
  });
  return out;
}

}  // namespace

std::string_view name_of(GgufType type) {
  static constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<uint32_t>(type)];
}

std::optional<std::string_view> GgufValue::text() const {
  if (type != GgufType::string) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<bool> GgufValue::boolean() const {
  if (type != GgufType::boolean) return std::nullopt;
  return bytes[0] != std::byte{0};
}

std::optional<int64_t> GgufValue::integer() const {
  switch (type) {
    case GgufType::u8: return load<uint8_t>(bytes);
    case GgufType::i8: return load<int8_t>(bytes);
    case GgufType::u16: return load<uint16_t>(bytes);
    case GgufType::i16: return load<int16_t>(bytes);
    case GgufType::u32: return load<uint32_t>(bytes);
    case GgufType::i32: return load<int32_t>(bytes);
    case GgufType::i64: return load<int64_t>(bytes);
    case GgufType::u64: {
      const auto value = load<uint64_t>(bytes);
      return value > INT64_MAX ? std::nullopt : std::optional(static_cast<int64_t>(value));
    }
    default: return std::nullopt;
  }
}

std::optional<double> GgufValue::number() const {
  if (type == GgufType::f32) return static_cast<double>(load<float>(bytes));
  if (type == GgufType::f64) return load<double>(bytes);
  if (type == GgufType::u64) return static_cast<double>(load<uint64_t>(bytes));
  const auto whole = integer();
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

std::optional<std::vector<std::string_view>> GgufValue::texts() const {
  return map_elements<std::string_view>(*this, [](const GgufValue& v) { return v.text(); });
}
std::optional<std::vector<int64_t>> GgufValue::integers() const {
  return map_elements<int64_t>(*this, [](const GgufValue& v) { return v.integer(); });
}
std::optional<std::vector<double>> GgufValue::numbers() const {
  return map_elements<double>(*this, [](const GgufValue& v) { return v.number(); });
}

std::vector<GgufValue> GgufValue::elements(uint64_t max_count) const {
  std::vector<GgufValue> out;
  if (type != GgufType::array) return out;
  visit_elements(*this, max_count, [&](const GgufValue& element) {
    out.push_back(element);
    return true;
  });
  return out;
}

}  // namespace tenon::files
