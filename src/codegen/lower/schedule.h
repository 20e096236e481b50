// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/loops/nest.h"
#include "codegen/tactic.h"

namespace tenon::codegen {

/// The order in which a nest's axes run, and the one that lies along the lanes.
struct Schedule {
  int outer = 0;         ///< leading axes that the tasks run over
  int vector = -1;       ///< axis along the lanes; -1: scalar code
  bool blocked = false;  ///< the vector axis is long: tasks run over blocks of it too (Tactic::block)
};

/// Joins neighbouring parallel axes that every access and output walks as one. Cost: accesses x axes.
void collapse(Nest& nest, const Plan& plan);
/// For a nest alone in its group: reorders its axes so that the outer ones come first, and picks the vector axis.
Schedule schedule_alone(Nest& nest, const Tactic& tactic, const Plan& plan);
/// For a nest whose first `outer` axes are given: the others are put in order, parallel ones before reduced ones.
Schedule schedule_row(Nest& nest, int outer, const Plan& plan);
/// Flat element number of an access or output in its array's strides, with loaded indices held inside the array.
Expr flat_of(const NestAccess& access, const Plan& plan);
Expr flat_of(const NestOutput& output, const Plan& plan);

}  // namespace tenon::codegen
