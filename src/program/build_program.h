// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "program/build.h"
#include "program/pool.h"

namespace tenon::program {

/// One program, with those of its bodies; without a place in a table.
struct BuiltProgram {
  runtime::ProgramTree tree;
  std::vector<runtime::StateInfo> states;  ///< in the order of Program::states, whose numbers of states are still open
  std::vector<Dim> outer;                  ///< a body's: sizes of the program around it, in the order of its `outer` lines
  StepOrigins origins;
};

/// Links what backends made of a graph. Errors and cost: as build().
Result<BuiltProgram> build_program(Lowered lowered, Pool& pool);

}  // namespace tenon::program
