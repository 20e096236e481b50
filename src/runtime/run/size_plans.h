// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/program.h"

namespace tenon::runtime {

/// Sizes and the memory laid out for them.
struct SizePlan {
  std::vector<int64_t> key;    ///< what the sizes depend on: input shapes, sizes of the enclosing program, sizes that steps bind
  std::vector<int64_t> sizes;  ///< values of the lines of the size table
  Layout layout;
  uint64_t number = 0;  ///< unique among the plans of one SizePlans
};

/// A cache of the plans that were used last.
class SizePlans {
 public:
  static constexpr size_t kMaxPlans = 8;

  /// The plan with this key; null: it is not in the cache. The plan stays valid until keep() or clear(). Cost: compares kMaxPlans keys.
  const SizePlan* find(std::span<const int64_t> key);
  /// Numbers a plan and adds it to the cache; where that is full, in place of the least recently used one.
  const SizePlan* keep(SizePlan plan);
  void clear() { plans_.clear(); }
  /// How many plans were ever added.
  uint64_t made() const { return made_; }

 private:
  struct Used {
    SizePlan plan;
    uint64_t last_use = 0;
  };
  std::vector<Used> plans_;
  uint64_t made_ = 0, uses_ = 0;
};

}  // namespace tenon::runtime
