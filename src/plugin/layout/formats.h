// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "plugin/layout/layout_conversion.h"
#include "plugin/object.h"

namespace tenon::plugin {

/// The type of an operand or a result in a call of `supports`.
struct PortType {
  DType dtype = DType::none;  ///< none: a missing operand
  int rank = -1;              ///< -1: not known
};

/// The combinations of layouts that an object supports, at most `most`: those with the most row-major layouts first, then those with the
/// most channels-last ones, then mixed ones. places: types of operands, then of results; operands: how many are operands.
/// Errors: not_supported where it supports none, with the dtypes that it supports at the first place that it refuses; errors of
/// `supports`. Cost: some calls of `supports` for each place and combination.
Result<std::vector<Layouts>> formats_of(const Object& object, std::span<const PortType> places, size_t operands, size_t most);

/// Calls `supports` once more for one combination of layouts, right before `configure`. Errors: not_supported; errors of `supports`.
Result<void> confirm_format(const Object& object, std::span<const PortType> places, const Layouts& layouts);

/// "channels-last" where all are equal; else operands and results: "row-major, channels-last -> channels-last".
std::string text_of_layouts(const Layouts& layouts, size_t operands);

}  // namespace tenon::plugin
