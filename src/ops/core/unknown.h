// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"

namespace tenon::ops {

/// The ops of table(), and for every other name an unknown op (ir::Op::unknown): any number of operands and results, missing ones among
/// them, any attributes and bodies. Nothing is known of what it means: its results have their declared types, and it is
/// neither evaluated, folded, merged with a twin nor compiled. One name is one op for the life of the process, so that rules find it in
/// any graph; find answers nullptr once names fill kUnknownNameBytes.
/// Graphs whose table this is may hold unknown nodes. Safe from several threads.
const ir::OpTable& open_table();
/// The same over another table of known ops, which outlives all use of it: one for each, for the life of the process.
const ir::OpTable& open_table(const ir::OpTable& known);
/// It is an open_table.
bool is_open(const ir::OpTable& table);
/// An unknown op of this name, though the table may contain the name: for a node that breaks the rules of the op that it names.
const ir::Op* unknown_op(std::string_view domain, std::string_view name);
inline constexpr size_t kUnknownNameBytes = size_t{16} << 20;

}  // namespace tenon::ops
