// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "codegen/plan/plan.h"
#include "program/pool.h"
#include "program/size_table.h"

namespace tenon::program {

/// The states of a program, in the order of Plan::states. buffers: number of the buffer of each array. StatePort::state stays 0.
/// Errors: not_supported for a length that is known only while the program runs.
Result<std::vector<runtime::StatePort>> state_ports(const codegen::Plan& plan, std::span<const uint32_t> buffers, const SizeTable& sizes);
/// Type, capacity and initial value of the states, in the same order.
std::vector<runtime::StateInfo> state_infos(const codegen::Plan& plan, const ir::Graph& graph, Pool& pool);
/// Adds guards that states whose lengths are one symbol are equally long, and sorts the guards.
void add_length_guards(const codegen::Plan& plan, const SizeTable& sizes, std::vector<runtime::Guard>& guards);
/// Adds the program's states to the table, one for each name, and sets StatePort::state. Errors: bad_usage, naming both entries, for two
/// states of one name that differ.
Result<void> place_states(runtime::ProgramTable& table, std::vector<runtime::StateInfo> states, runtime::Program& program);

}  // namespace tenon::program
