// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/size_plans.h"

#include <algorithm>

namespace tenon::runtime {

const SizePlan* SizePlans::find(std::span<const int64_t> key) {
  for (Used& u : plans_)
    if (std::ranges::equal(u.plan.key, key)) {
      u.last_use = ++uses_;
      return &u.plan;
    }
  return nullptr;
}

const SizePlan* SizePlans::keep(SizePlan plan) {
  plans_.reserve(kMaxPlans);
  Used& place = plans_.size() < kMaxPlans ? plans_.emplace_back() : *std::ranges::min_element(plans_, {}, &Used::last_use);
  place = {std::move(plan), ++uses_};
  place.plan.number = ++made_;
  return &place.plan;
}

}  // namespace tenon::runtime
