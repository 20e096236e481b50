// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3x3 and what planning makes of them, for tests.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/tensor.h"
#include "codegen/plan/plan_options.h"
#include "codegen/target.h"

namespace tenon::codegen {

/// Always, where it can be: what stands between the steps costs nothing.
inline PlanOptions winograd_always() {
  PlanOptions options;
  options.verify = true;
  options.limits = (**target_named("x86_avx512")).plan_limits;
  options.limits->ops_per_cached_byte = options.limits->ops_per_weight_byte = 0;
  return options;
}

/// A loop over tiles, of which a convolution has three: unlike the copy of an image, of several elements at a time.
inline bool is_of_tiles(const Group& g) { return g.is_auxiliary() && g.nests[0].outputs.size() > 1; }

inline size_t transformed(const Plan& plan) { return static_cast<size_t>(std::ranges::count_if(plan.groups, is_of_tiles)); }

inline std::string convolution(std::string_view x, std::string_view attributes, const Sizes& w = {5, 3, 3, 3}) {
  return fmt::format("graph main(x: f32[{}]) {{ {} y = Conv(x, w{}) return y }}", x, weights("w", w), attributes);
}

}  // namespace tenon::codegen
