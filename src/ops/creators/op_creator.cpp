// SPDX-License-Identifier: Apache-2.0
#include "ops/creators/op_creator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/nearest.h"
#include "ops/creators/gpt_attention_creator.h"

namespace tenon::ops {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

std::string title_of(const tenon_field_rule& rule) { return fmt::format("field '{}' ({})", rule.name, plugin::name_of_type(rule.type)); }

FieldFault unknown_field(std::string_view name, const plugin::Op& op) {
  std::vector<std::string_view> known;
  for (const tenon_field_rule& rule : op.fields) known.emplace_back(rule.name);
  const std::string near = did_you_mean(name, known);
  return {false, fmt::format("there is no field '{}'{}", name, near.empty() ? "" : ", " + near)};
}

/// The value of a field that is given; faults where it is none.
double value_of(const plugin::Field& field, const tenon_field_rule& rule, const char* only_value, std::vector<FieldFault>& faults) {
  const auto add = [&](bool not_supported, const std::string& text) {
    faults.push_back({not_supported, fmt::format("{}{}", title_of(rule), text)});
    return kNoValue;
  };
  if (field.type != rule.type) return add(false, fmt::format(" is of type {}", plugin::name_of_type(field.type)));
  if (plugin::bytes_of_field(field.type, field.length) != static_cast<int64_t>(field.bytes.size()))
    return add(false, fmt::format(" has {} bytes for {} elements", field.bytes.size(), field.length));
  if (rule.length < 0) return kNoValue;
  if (field.length != rule.length) return add(false, fmt::format(" has {} elements, not {}", field.length, rule.length));
  const double value = plugin::number_of(field, 0);
  if (!rule.has_range || (value >= rule.least && value <= rule.most)) return value;
  if (only_value) return add(true, fmt::format(" = {}: not supported yet, {}", value, only_value));
  return add(false, fmt::format(" = {} is not in {} .. {}", value, rule.least, rule.most));
}

double default_of_rule(const tenon_field_rule& rule) {
  if (!rule.otherwise) return kNoValue;
  const auto bytes = static_cast<size_t>(plugin::bytes_of_field(rule.type, 1));
  return plugin::number_of({rule.name, rule.type, 1, std::string(static_cast<const char*>(rule.otherwise), bytes)}, 0);
}

FieldValues values_of(const OpCreator& creator, std::span<const plugin::Field> fields, std::vector<FieldFault>& faults) {
  const auto& rules = creator.declared.fields;
  for (size_t k = 0; k < fields.size(); ++k) {
    const std::string& name = fields[k].name;
    const auto before = fields.first(k);
    if (std::ranges::find(rules, std::string_view(name), &tenon_field_rule::name) == rules.end())
      faults.push_back(unknown_field(name, creator.declared));
    else if (std::ranges::find(before, name, &plugin::Field::name) != before.end())
      faults.push_back({false, fmt::format("field '{}' is given twice", name)});
  }
  std::vector<double> values;
  for (size_t k = 0; k < rules.size(); ++k) {
    const auto given = std::ranges::find(fields, std::string_view(rules[k].name), &plugin::Field::name);
    if (given != fields.end()) {
      values.push_back(value_of(*given, rules[k], creator.only_value[k], faults));
      continue;
    }
    if (!rules[k].otherwise && !rules[k].optional) faults.push_back({false, title_of(rules[k]) + " is missing"});
    values.push_back(default_of_rule(rules[k]));
  }
  return {creator.declared, std::move(values)};
}

}  // namespace

bool FieldValues::has(std::string_view field) const { return !std::isnan(number(field)); }

double FieldValues::number(std::string_view field) const {
  const auto found = std::ranges::find(declared_.fields, field, &tenon_field_rule::name);
  TENON_ASSERT(found != declared_.fields.end());
  return values_[static_cast<size_t>(found - declared_.fields.begin())];
}

std::span<const OpCreator> op_creators() {
  static const auto& all = *new std::array{gpt_attention_creator()};
  return all;
}

const OpCreator* find_op_creator(std::string_view name_space, std::string_view name, std::string_view version) {
  for (const OpCreator& creator : op_creators())
    if (const plugin::Op& op = creator.declared; op.name_space == name_space && op.name == name && op.version == version) return &creator;
  return nullptr;
}

Result<CreatedNode> create_node(const OpCreator& creator, std::span<const plugin::Field> fields) {
  std::vector<FieldFault> faults;
  const FieldValues values = values_of(creator, fields, faults);
  if (faults.empty()) creator.check(values, faults);
  if (faults.empty()) return creator.node(values);
  std::vector<std::string> texts;
  for (const FieldFault& fault : faults) texts.push_back(fault.text);
  const bool only_unsupported = std::ranges::all_of(faults, &FieldFault::not_supported);
  return fail(only_unsupported ? Code::not_supported : Code::bad_attribute, "creator " + creator.declared.key(),
              only_unsupported ? "not supported yet: values of its fields" : "its fields are not what the creator takes")
      .expected("the fields that `tenon plugin list` shows, with their types and ranges")
      .found(fmt::format("{}", fmt::join(texts, "\n            ")))
      .advice(only_unsupported ? "leave these fields out, and put what they do into layers of their own" : "correct the fields");
}

}  // namespace tenon::ops
