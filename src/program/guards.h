// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ir/assumptions.h"
#include "program/size_table.h"

namespace tenon::program {

/// Adds lines for the sizes of the assumptions, as far as they follow from lines of the table.
void want_guards(std::span<const ir::Assumption> assumptions, SizeTable& sizes);
/// The same as the program's guards, in the order in which their sizes become known. Not before the table is finished.
std::vector<runtime::Guard> guards_of(std::span<const ir::Assumption> assumptions, const SizeTable& sizes);

/// Into that order.
void sort_guards(std::vector<runtime::Guard>& guards);

}  // namespace tenon::program
