// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Lines of a plan's text that declare sizes, so that parsing creates them in the same order (terms of sums are sorted by it): "symbol n in
/// 1 to 8, m", "sizes [floordiv(n, 2)]". Empty where order and bounds follow from the rest of the text.
std::vector<std::string> declarations_of(const Plan& plan);

}  // namespace tenon::codegen
