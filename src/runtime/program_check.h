// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/program.h"

namespace tenon::runtime {

/// Everything that a run will use as an index, in the program and its bodies, points at what is there. Cost: linear.
bool is_sound(const Program& program);

}  // namespace tenon::runtime
