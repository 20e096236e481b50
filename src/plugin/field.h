// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// A field of a node (tenon_field) that owns its value.
struct Field {
  std::string name;
  int32_t type = TENON_FIELD_BYTES;  ///< tenon_field_type
  int64_t length = 0;                ///< in elements
  std::string bytes;

  friend bool operator==(const Field&, const Field&) = default;
  /// "beta = 1.5", "mode = fast", "table: f32[12]"
  std::string text() const;
};

/// Bytes of that many elements; -1 for an unknown type or a negative length.
int64_t bytes_of_field(int32_t type, int64_t length);
/// "f32", "char", ...
std::string_view name_of_type(int32_t type);
/// Whether elements of the type are numbers.
bool holds_numbers(int32_t type);
/// Element `index` of a field of numbers.
double number_of(const Field& field, int64_t index);
/// Element `index` of a field of integers, which a double may not represent exactly.
int64_t integer_of(const Field& field, int64_t index);
/// A field of one number, rounded to the type. Errors: bad_attribute for a type that holds no numbers, or a number that does not fit it.
Result<Field> scalar_field(std::string name, int32_t type, double value);

/// A copy of a field that a library passed. Errors: bad_attribute for an invalid name, type, length or pointer.
Result<Field> copy_of(const tenon_field& given);

/// Fields as structs of the C interface, which point into the fields that they were made from.
class FieldViews {
 public:
  explicit FieldViews(std::span<const Field> fields);
  FieldViews(const FieldViews&) = delete;
  uint32_t size() const { return static_cast<uint32_t>(views_.size()); }
  const tenon_field* const* data() const { return pointers_.data(); }

 private:
  std::vector<tenon_field> views_;
  std::vector<const tenon_field*> pointers_;
};

}  // namespace tenon::plugin
