// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cli/plugin_kit/plugin_case.h"

namespace tenon::cli {

namespace {

bool is_float_field(int32_t type) {
  return type == TENON_FIELD_F16 || type == TENON_FIELD_BF16 || type == TENON_FIELD_F32 || type == TENON_FIELD_F64;
}
bool is_integer_field(int32_t type) {
  return type == TENON_FIELD_I8 || type == TENON_FIELD_I16 || type == TENON_FIELD_I32 || type == TENON_FIELD_I64;
}

/// The value in every element of the field.
ir::Attribute filled(const tenon_field_rule& rule, double value) {
  const size_t length = rule.length < 0 ? 2 : static_cast<size_t>(rule.length);
  if (is_float_field(rule.type)) {
    if (rule.length == 1) return static_cast<float>(value);
    return ir::Floats(length, static_cast<float>(value));
  }
  if (rule.length == 1) return static_cast<int64_t>(value);
  return ir::Ints(length, static_cast<int64_t>(value));
}

double first_of_default(const tenon_field_rule& rule) {
  if (!rule.otherwise || rule.length < 1) return 0;
  const auto field = plugin::copy_of(
      {.struct_size = sizeof(tenon_field), .name = rule.name, .type = rule.type, .length = rule.length, .data = rule.otherwise});
  return field ? plugin::number_of(*field, 0) : 0;
}

/// The ends of a range and a number between them, as far as a node's attributes can say them.
std::vector<double> in_range(const tenon_field_rule& rule) {
  std::vector<double> out;
  const double middle = rule.least / 2 + rule.most / 2;
  for (double v : {middle, rule.least, rule.most}) {
    if (is_integer_field(rule.type)) v = v == rule.most ? std::floor(v) : std::ceil(v);
    const bool is_exact = is_float_field(rule.type) ? static_cast<double>(static_cast<float>(v)) == v : std::abs(v) < 0x1p53;
    if (is_exact && v >= rule.least && v <= rule.most) out.push_back(v);
  }
  return out;
}

}  // namespace

FieldValues other_values(const tenon_field_rule& rule) {
  FieldValues out;
  for (const char* const* c = rule.choices; c && *c; ++c) out.values.emplace_back(std::string(*c));
  out.are_declared = rule.has_range != 0 || rule.choices != nullptr;
  if (!is_float_field(rule.type) && !is_integer_field(rule.type)) return out;
  if (rule.has_range)
    for (double v : in_range(rule)) out.values.push_back(filled(rule, v));
  else out.values.push_back(filled(rule, is_float_field(rule.type) ? first_of_default(rule) * 1.5 + 0.25 : first_of_default(rule) + 1));
  return out;
}

std::vector<ir::Attribute> odd_values(const tenon_field_rule& rule) {
  if (rule.has_range || rule.choices) return {};
  if (is_integer_field(rule.type)) {
    const double far = rule.type == TENON_FIELD_I8 ? 120 : 30'000;
    return {filled(rule, far), filled(rule, -far)};
  }
  if (rule.type == TENON_FIELD_CHAR) return {std::string("no such choice")};
  return {};
}

}  // namespace tenon::cli
