// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A copy of a group and its arrays in a plan of its own, in which a preparation can be tried without a change to the original plan. Cost:
/// linear in the arrays of the group.
class SingleGroup {
 public:
  SingleGroup(Group of, const Plan& plan);

  /// Adds new arrays to the original plan, and renumbers arrays in `group` and `copies` accordingly.
  void move_to(Plan& plan);

  Plan plan;  ///< arrays and limits, no groups
  Group group;
  std::vector<Nest> copies;  ///< nests that fill new arrays

 private:
  ArrayId own_number(ArrayId array, const Plan& from);

  std::vector<ArrayId> numbers_;  ///< by array: its number in the original plan
};

}  // namespace tenon::codegen
