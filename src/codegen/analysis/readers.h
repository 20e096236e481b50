// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Which groups read and write each array of a plan, kept up to date group by group. A read through a reshape counts for the reshaped
/// array too.
class Readers {
 public:
  explicit Readers(const Plan& plan);
  /// Groups that read the array, in their order.
  const std::set<size_t>& of(ArrayId array) const { return readers_[array]; }
  int writers(ArrayId array) const { return writers_[array]; }
  bool is_output(ArrayId array) const { return output_[array]; }
  /// Removes what the group reads and writes. Call it before the group changes, and `add` afterwards. Cost of both: the accesses of the
  /// group, times the logarithm of an array's readers.
  void remove(size_t group);
  void add(size_t group);

 private:
  template <class F>
  void each_read(const Group& group, F f) const;
  template <class F>
  void each_written(const Group& group, F f) const;

  const Plan& plan_;
  std::vector<std::set<size_t>> readers_;
  std::vector<int> writers_;
  std::vector<bool> output_;
};

}  // namespace tenon::codegen
