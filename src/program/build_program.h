// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "program/build.h"
#include "program/pool.h"

namespace tenon::program {

/// One program and the programs of its bodies, which have no numbers in a table yet.
struct BuiltProgram {
  runtime::ProgramTree tree;
  std::vector<runtime::StateInfo> states;  ///< in the order of Program::states, whose StatePort::state is not set yet
  std::vector<Dim> outer;                  ///< of a body: sizes of the program around it, in the order of its `outer` lines
  StepOrigins origins;
};

/// Links one lowered graph. Errors and cost: as build().
Result<BuiltProgram> build_program(LoweredGraph lowered, Pool& pool);

}  // namespace tenon::program
