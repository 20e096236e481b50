// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How the tasks of a kernel, in the order of their numbers, access one of its arrays. Two kernels with the same split leave each thread
/// the elements that it wrote itself.
struct AccessPattern {
  static constexpr int64_t kUnbounded = int64_t{1} << 50;

  Dim elements = kUnbounded;  ///< upper bound of the elements that the kernel accesses
  Dim parts = 1;         ///< equal parts of the array that follow each other as task numbers grow; with as many threads, each has its own
  bool whole = false;    ///< each task accesses all elements of its part
  bool written = false;  ///< the kernel writes the array
};

/// One component of a task number: the axes of a nest along which it moves, outermost first.
struct TaskAxis {
  std::vector<int> axes;
  Dim extent = 1;         ///< values of the component
  bool in_parts = false;  ///< each value covers a range of the axes, whose single steps another component numbers
};
/// One component for each of these axes.
std::vector<TaskAxis> tasks_over(const std::vector<int>& axes, const Nest& nest);

/// Computes the access pattern of each array of a kernel.
class AccessPatterns {
 public:
  AccessPatterns(const Plan& plan, std::vector<TaskAxis> tasks) : plan_(plan), tasks_(std::move(tasks)) {}

  /// Adds every access and output of the nest whose axes the tasks cover, each with one element a point of the nest.
  void add(const Nest& nest);
  /// Adds one access. `place`: its element number, affine in the axes of the nest; nullopt: unknown.
  void add(ArrayId array, const std::optional<Affine>& place, const Nest& nest, Dim elements, bool written);
  /// The patterns in the order of the kernel's arguments. An argument that was not added gets the default pattern.
  std::vector<AccessPattern> of(const std::vector<ArrayId>& arguments) const;

 private:
  const Plan& plan_;
  std::vector<TaskAxis> tasks_;
  std::map<ArrayId, AccessPattern> patterns_;
};

}  // namespace tenon::codegen
