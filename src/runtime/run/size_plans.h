// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/program.h"

namespace tenon::runtime {

/// Sizes and the memory laid out for them.
struct SizePlan {
  std::vector<int64_t> key;    ///< what they follow from: shapes, sizes of the program around it, sizes that steps bind
  std::vector<int64_t> sizes;  ///< lines of the size table that follow
  Layout layout;
  uint64_t number = 0;  ///< differs among all plans of one SizePlans
};

/// The plans that were used last: what is among them is not planned again.
class SizePlans {
 public:
  static constexpr size_t kMost = 8;

  /// Null: it is not among them. What is returned stays valid until keep() or clear(). Cost: compares kMost keys.
  const SizePlan* find(std::span<const int64_t> key);
  /// Numbers a plan and keeps it, in place of the one that was used longest ago where there are kMost.
  const SizePlan* keep(SizePlan plan);
  void clear() { plans_.clear(); }
  /// How many were ever kept.
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
