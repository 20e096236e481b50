// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "codegen/plan/plan.h"
#include "program/pool.h"
#include "program/size_table.h"

namespace tenon::program {

/// What a program says of its states, in the order of Plan::states. `buffers`: numbers by array. StatePort::state is left at 0.
/// Errors: not_supported for a length that is known only while the program runs.
Result<std::vector<runtime::StatePort>> state_ports(const codegen::Plan& plan, std::span<const uint32_t> buffers, const SizeTable& sizes);
/// The states themselves, in the same order.
std::vector<runtime::StateInfo> state_infos(const codegen::Plan& plan, const ir::Graph& graph, Pool& pool);
/// Adds that states whose lengths have one name are equally long. Keeps the order of guards.
void add_length_guards(const codegen::Plan& plan, const SizeTable& sizes, std::vector<runtime::Guard>& guards);
/// Lets the table have the program's states, each name once. Errors: bad_usage, naming both entries, for two states of one name that
/// differ.
Result<void> place_states(runtime::ProgramTable& table, std::vector<runtime::StateInfo> states, runtime::Program& program);

}  // namespace tenon::program
