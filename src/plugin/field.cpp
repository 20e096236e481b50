// SPDX-License-Identifier: Apache-2.0
#include "plugin/field.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtype.h"
#include "plugin/struct_versions.h"

namespace tenon::plugin {

namespace {

struct TypeInfo {
  std::string_view name;
  int bits;
  DType dtype;  ///< none: no numbers
};
constexpr int64_t kDimsBytes = 8 + 8 * 8;  ///< a count, padding, eight sizes

constexpr TypeInfo kTypes[] = {
    {"f16", 16, DType::f16},   {"f32", 32, DType::f32},   {"f64", 64, DType::f64},  {"i8", 8, DType::i8},
    {"i16", 16, DType::i16},   {"i32", 32, DType::i32},   {"char", 8, DType::none}, {"dims", 8 * kDimsBytes, DType::none},
    {"bytes", 8, DType::none}, {"bf16", 16, DType::bf16}, {"i64", 64, DType::i64},  {"fp8", 8, DType::f8e4m3fn},
    {"i4", 4, DType::none},    {"fp4", 4, DType::none},
};

const TypeInfo* info_of(int32_t type) { return type >= 0 && static_cast<size_t>(type) < std::size(kTypes) ? &kTypes[type] : nullptr; }

template <class T>
bool fits(double value) {
  return value == std::trunc(value) && value >= static_cast<double>(std::numeric_limits<T>::min()) &&
         value <= static_cast<double>(std::numeric_limits<T>::max());
}

bool fits(DType dtype, double value) {
  switch (dtype) {
    case DType::i8: return fits<int8_t>(value);
    case DType::i16: return fits<int16_t>(value);
    case DType::i32: return fits<int32_t>(value);
    case DType::i64: return fits<int64_t>(value) && value < 0x1p63;
    default: return true;
  }
}

}  // namespace

int64_t bytes_of_field(int32_t type, int64_t length) {
  const TypeInfo* info = info_of(type);
  if (!info || length < 0 || length > (int64_t{1} << 40)) return -1;
  return (length * info->bits + 7) / 8;
}

std::string_view name_of_type(int32_t type) {
  const TypeInfo* info = info_of(type);
  return info ? info->name : "of no type";
}

bool holds_numbers(int32_t type) {
  const TypeInfo* info = info_of(type);
  return info && info->dtype != DType::none;
}

namespace {

/// Of an element, in the lowest bits.
uint64_t bits_at(const Field& field, int64_t index) {
  TENON_ASSERT(holds_numbers(field.type) && index >= 0 && index < field.length);
  const auto bytes = static_cast<size_t>(info_of(field.type)->bits / 8);
  uint64_t out = 0;
  std::memcpy(&out, field.bytes.data() + static_cast<size_t>(index) * bytes, bytes);
  return out;
}

}  // namespace

int64_t integer_of(const Field& field, int64_t index) {
  const int shift = 64 - info_of(field.type)->bits;
  return static_cast<int64_t>(bits_at(field, index) << shift) >> shift;
}

double number_of(const Field& field, int64_t index) {
  const DType dtype = info_of(field.type)->dtype;
  return is_float(dtype) ? decode_float(dtype, bits_at(field, index)) : static_cast<double>(integer_of(field, index));
}

Result<Field> scalar_field(std::string name, int32_t type, double value) {
  const TypeInfo* info = info_of(type);
  if (!info || info->dtype == DType::none || !fits(info->dtype, value))
    return fail(Code::bad_attribute, fmt::format("field '{}'", name), "the number does not fit the field's type")
        .expected(std::string(name_of_type(type)))
        .found(fmt::format("{}", value));
  const uint64_t bits = is_float(info->dtype) ? encode_float(info->dtype, value) : static_cast<uint64_t>(static_cast<int64_t>(value));
  return Field{std::move(name), type, 1, std::string(reinterpret_cast<const char*>(&bits), static_cast<size_t>(info->bits / 8))};
}

std::string Field::text() const {
  const TypeInfo* info = info_of(type);
  if (type == TENON_FIELD_CHAR) return fmt::format("{} = {}", name, bytes);
  if (info && info->dtype != DType::none && length == 1) return fmt::format("{} = {}", name, number_of(*this, 0));
  return fmt::format("{}: {}[{}]", name, info ? info->name : "?", length);
}

Result<Field> copy_of(const tenon_field& given) {
  const tenon_field field = adapted(given);
  const std::string name = field.name ? field.name : "";
  const int64_t bytes = bytes_of_field(field.type, field.length);
  if (name.empty() || bytes < 0 || (bytes > 0 && !field.data))
    return fail(Code::bad_attribute, fmt::format("field '{}'", name), "a plugin gives a field that cannot be")
        .expected("a name, a type of tenon_field_type, a length of at least 0, and data")
        .found(fmt::format("type {}, length {}{}", field.type, field.length, field.data ? "" : ", no data"));
  std::string copy;
  if (bytes > 0) copy.assign(static_cast<const char*>(field.data), static_cast<size_t>(bytes));
  return Field{name, field.type, field.length, std::move(copy)};
}

FieldViews::FieldViews(std::span<const Field> fields) {
  views_.reserve(fields.size());
  for (const Field& f : fields) {
    views_.push_back(
        {.struct_size = sizeof(tenon_field), .name = f.name.c_str(), .type = f.type, .length = f.length, .data = f.bytes.c_str()});
    pointers_.push_back(&views_.back());
  }
}

}  // namespace tenon::plugin
