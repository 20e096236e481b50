// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// The text without the blanks at both ends.
std::string_view trimmed(std::string_view s);

/// One line of OpDef::attributes, parsed: "axis: int = -1", "to: int!", "body: graph", "saturate: int = 1 since 19". A type is stored
/// as text: "seq(f32[2,?])".
struct AttributeSpec {
  enum class Kind : uint8_t { integer, number, text, ints, floats, strings, tensor, graph, type } kind = Kind::integer;
  std::string_view name;
  std::string_view default_text;  ///< the default as written; empty: none
  bool required = false;
  int since = 0;  ///< first opset that has the attribute, where the op is older; older opsets can express its default only
};
AttributeSpec parse_attribute_spec(std::string_view line);
std::vector<AttributeSpec> attribute_specs(const OpDef& def);
std::string_view name_of(AttributeSpec::Kind kind);
/// The value equals the default, so that the attribute can be omitted.
bool is_default_value(const AttributeSpec& spec, const ir::Attribute& value);

/// The least and largest number of operands (or results) that names like "x", "axes?", "inputs*" allow; most -1: any number.
struct Arity {
  int least = 0, most = 0;
};
/// "axes?", or "running_mean? unless training_mode": an operand or result that may be missing, the latter only where the named attribute is
/// missing or 0.
bool may_be_omitted(std::string_view name);
/// The same for result `index` of a node with these attributes. Results after the last name (of "outputs*") may not be missing.
bool may_be_omitted(const OpDef& def, const ir::Attributes& attributes, size_t index);
Arity arity_of(StringList names);
/// Every attribute is in the schema and of its kind; required ones are there. Errors: bad_attribute.
Result<void> check_attributes(const NodeView& view, const std::vector<AttributeSpec>& specs);
/// Required operands are there and no more than allowed; all are tensors where the op takes no others. Errors: bad_graph,
/// dtype_mismatch.
Result<void> check_operands(const NodeView& view, const OpDef& def);

}  // namespace tenon::ops
