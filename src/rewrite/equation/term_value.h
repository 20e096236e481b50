// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dim/dim.h"
#include "base/tensor.h"
#include "ir/attribute.h"
#include "ir/ids.h"

namespace tenon::rewrite {

using Values = std::vector<ir::ValueId>;
using Numbers = std::vector<double>;

/// The value of an expression of an equation in one match: a graph value (none: a missing operand), an attribute's value, with floats as
/// f64, or a size, shape or element type. A size that is a number is stored as int64_t, a bool as 0 or 1. A class and no alias, so that the
/// copy of the variant is compiled once.
class TermValue
    : public std::variant<ir::ValueId, int64_t, double, std::string, ir::Ints, Numbers, ir::Strings, Tensor, Dim, DimList, DType, Values> {
 public:
  using variant::variant;
  TermValue() = default;
  TermValue(const TermValue& other);
  TermValue(TermValue&& other) noexcept;
  TermValue& operator=(const TermValue& other);
  TermValue& operator=(TermValue&& other) noexcept;
  ~TermValue();
};
/// The value of an expression; nullopt where it is not known, or not defined for such operands.
using Answer = std::optional<TermValue>;

TermValue term_value_of(const ir::Attribute& attribute);
inline TermValue term_value_of(Dim dim) { return dim.is_number() ? TermValue(dim.value()) : TermValue(dim); }
inline TermValue bool_value(bool holds) { return int64_t{holds}; }
/// The value as an attribute: numbers as integers where they are whole and `floating` is false; nullopt where no attribute has such a
/// value.
std::optional<ir::Attribute> attribute_of(const TermValue& value, bool floating = false);
std::optional<double> as_number(const TermValue& value);
std::optional<int64_t> as_integer(const TermValue& value);
/// The value as a size; nullopt where it is neither a number nor a size.
std::optional<Dim> as_dim(const TermValue& value);
/// The value as a list of sizes; nullopt where it is no list of integers or sizes.
std::optional<DimList> as_dims(const TermValue& value);

/// Whether two values are equal for all values of the symbols; numbers with a relative tolerance of 1e-6. nullopt: it depends on the
/// symbols.
std::optional<bool> equal(const TermValue& a, const TermValue& b);
/// Whether a < b for all values of the symbols; nullopt where it depends on them, or where the two have no order.
std::optional<bool> less(const TermValue& a, const TermValue& b);
/// Whether the attribute provably equals the value: equal() == true, without a copy of the attribute.
bool agrees(const ir::Attribute& found, const TermValue& expected);

std::string text_of(const TermValue& value);

}  // namespace tenon::rewrite
