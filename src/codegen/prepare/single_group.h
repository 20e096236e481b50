// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A group over copies of the arrays that it names, in a plan of its own: what is made for it there costs the plan that it comes from
/// nothing where it turns out not to fit. Cost: linear in the arrays of the group.
class SingleGroup {
 public:
  SingleGroup(Group of, const Plan& plan);

  /// Adds the arrays that were made to the plan that the group comes from, and gives group and copies the numbers that arrays have there.
  void move_to(Plan& plan);

  Plan plan;  ///< arrays and limits, no groups
  Group group;
  std::vector<Nest> copies;  ///< what fills arrays that were made

 private:
  ArrayId own_number(ArrayId array, const Plan& from);

  std::vector<ArrayId> numbers_;  ///< of each array, in the plan that the group comes from
};

}  // namespace tenon::codegen
