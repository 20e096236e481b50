// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How a kernel's tasks, in the order in which they are numbered, walk one of its arrays.
struct Walk {
  static constexpr int64_t kAll = int64_t{1} << 50;

  Dim elements = kAll;  ///< that are touched at most
  Dim parts = 1;        ///< neighbouring tasks touch neighbouring parts, of which there are so many: with as many, a thread keeps its own
  bool whole = false;   ///< each task touches all of a part
  bool written = false;
};

/// What tasks run over: the axes of a nest along which one of their numbers moves, outermost first, and how many steps it takes.
struct TaskAxis {
  std::vector<int> axes;
  Dim extent = 1;
  bool in_parts = false;  ///< it takes long parts of the axes, of which other tasks take the steps
};
/// Tasks that run over axes one by one.
std::vector<TaskAxis> tasks_over(const std::vector<int>& axes, const Nest& nest);

/// Collects what is known of a kernel's arrays.
class Walks {
 public:
  Walks(const Plan& plan, std::vector<TaskAxis> tasks) : plan_(plan), tasks_(std::move(tasks)) {}

  /// Every access and output of the nest over whose axes the tasks run, each as often as it has points.
  void add(const Nest& nest);
  /// One place, affine in the axes of that nest.
  void add(ArrayId array, const std::optional<Affine>& place, const Nest& nest, Dim elements, bool written);
  /// In the order of a kernel's arguments; of one of which nothing is known, that tasks touch all of it out of order.
  std::vector<Walk> of(const std::vector<ArrayId>& arguments) const;

 private:
  const Plan& plan_;
  std::vector<TaskAxis> tasks_;
  std::map<ArrayId, Walk> walks_;
};

}  // namespace tenon::codegen
