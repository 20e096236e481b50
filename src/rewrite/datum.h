// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dim.h"
#include "base/tensor.h"
#include "ir/attribute.h"
#include "ir/ids.h"

namespace tenon::rewrite {

using Values = std::vector<ir::ValueId>;
using Numbers = std::vector<double>;

/// What an expression of an equation is worth in one match: a graph value (none: a missing operand), what attributes hold, with numbers
/// in f64, and what is known of shapes. A size that is a number is held as int64_t, a truth as 0 or 1. A class of its own, so that what
/// copies all these kinds is compiled once.
class Datum
    : public std::variant<ir::ValueId, int64_t, double, std::string, ir::Ints, Numbers, ir::Strings, Tensor, Dim, DimList, DType, Values> {
 public:
  using variant::variant;
  Datum() = default;
  Datum(const Datum& other);
  Datum(Datum&& other) noexcept;
  Datum& operator=(const Datum& other);
  Datum& operator=(Datum&& other) noexcept;
  ~Datum();
};
/// nullopt: no answer, because too little is known or the question makes no sense.
using Answer = std::optional<Datum>;

Datum datum_of(const ir::Attribute& attribute);
inline Datum datum_of(Dim dim) { return dim.is_number() ? Datum(dim.value()) : Datum(dim); }
inline Datum truth(bool holds) { return int64_t{holds}; }
/// As an attribute: numbers as integers where they are whole and `floating` is not asked for; nullopt where no attribute can say it.
std::optional<ir::Attribute> attribute_of(const Datum& datum, bool floating = false);
std::optional<double> as_number(const Datum& datum);
std::optional<int64_t> as_integer(const Datum& datum);
/// A number or a size; nullopt for all else.
std::optional<Dim> as_dim(const Datum& datum);
/// A list of integers or sizes; nullopt for all else.
std::optional<DimList> as_dims(const Datum& datum);

/// Equal for all values of the symbols; numbers up to 1e-6 of the second. nullopt: depends on the symbols.
std::optional<bool> equal(const Datum& a, const Datum& b);
/// Whether a < b for all values of the symbols; nullopt where it depends on them, or where the two have no order.
std::optional<bool> less(const Datum& a, const Datum& b);
/// equal() without a copy of what the attribute holds.
bool agrees(const ir::Attribute& found, const Datum& wanted);

std::string text_of(const Datum& datum);

}  // namespace tenon::rewrite
