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

/// The choices of layouts that an object takes, at most `most`, each queried position by position: first with as much row-major as may be,
/// then with as much channels-last, then mixed ones. operands: how many of the places are operands, which come first.
/// Errors: not_supported where it takes none, with the dtypes that it does take at the first place that it refuses; what `supports` says.
/// Cost: some calls of `supports` a place and choice.
Result<std::vector<Layouts>> formats_of(const Object& object, std::span<const PortType> places, size_t operands, size_t most);

/// Calls `supports` for one choice once more, right before `configure`. Errors: not_supported, what `supports`
/// says.
Result<void> confirm_format(const Object& object, std::span<const PortType> places, const Layouts& layouts);

/// "channels-last", or of mixed ones "row-major, channels-last -> channels-last".
std::string text_of_layouts(const Layouts& layouts, size_t operands);

}  // namespace tenon::plugin
