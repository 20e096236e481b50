// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/assumptions.h"
#include "program/size_table.h"

namespace tenon::program {

/// Requests lines for both sizes of each assumption whose symbols have origins.
void request_guard_sizes(std::span<const ir::Assumption> assumptions, SizeTable& sizes);
/// Those assumptions as guards of the program, sorted by sort_guards. Call after SizeTable::finish.
std::vector<runtime::Guard> guards_of(std::span<const ir::Assumption> assumptions, const SizeTable& sizes);

/// Sorts by the line of the later size: the order in which both sizes become known during a run.
void sort_guards(std::vector<runtime::Guard>& guards);

}  // namespace tenon::program
