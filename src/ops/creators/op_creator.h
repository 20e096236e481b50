// SPDX-License-Identifier: Apache-2.0
// Plugin creators of TensorRT-LLM whose plugin is an op of Tenon. They are declared, so that code written for TensorRT's registry finds
// them there, and make nodes of the op. No library has them; a library may bring a creator of the same key, which then takes the place.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "ir/attribute.h"
#include "plugin/field.h"
#include "plugin/op.h"

namespace tenon::ops {

/// The values of a creator's fields, defaults filled in, in the order of its rules. Lists, and optional fields without a value, are NaN.
class FieldValues {
 public:
  FieldValues(const plugin::Op& declared, std::vector<double> values) : declared_(declared), values_(std::move(values)) {}
  bool has(std::string_view field) const;
  double number(std::string_view field) const;
  int64_t integer(std::string_view field) const { return static_cast<int64_t>(number(field)); }

 private:
  const plugin::Op& declared_;
  std::vector<double> values_;
};

/// What a field whose value is wrong means: a value that cannot be, or one that the original has and Tenon does not have yet.
struct FieldFault {
  bool not_supported = false;
  std::string text;  ///< "field 'mask_type' (i32) = 2: ..."
};

/// A node as a creator makes it.
struct CreatedNode {
  ir::Attributes attributes;                  ///< of the op
  size_t outputs = 1;                         ///< how many the node has
  DType dtype = DType::none;                  ///< of operand 0; none: the fields do not determine it
  std::vector<std::optional<bool>> operands;  ///< of the first ones, whether each must be given or missing; nullopt: it may be either
};

struct OpCreator {
  plugin::Op declared;                  ///< key, operands, results, fields; it has no functions
  std::string_view op;                  ///< of domain "tenon"
  std::vector<const char*> only_value;  ///< of each field: why values outside its range are not supported; null: they cannot be
  std::function<void(const FieldValues&, std::vector<FieldFault>&)> check;  ///< what no field is wrong with alone
  std::function<CreatedNode(const FieldValues&)> node;
};

/// All of them. They stay until the process ends.
std::span<const OpCreator> op_creators();
/// Null where there is none of that key.
const OpCreator* find_op_creator(std::string_view name_space, std::string_view name, std::string_view version);

/// The node for these fields. Errors, one for all that is wrong with the fields (unknown, given twice, missing, of another type or length,
/// out of range): not_supported where only values are wrong that the original has, else bad_attribute.
Result<CreatedNode> create_node(const OpCreator& creator, std::span<const plugin::Field> fields);

}  // namespace tenon::ops
