// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/op.h"

namespace tenon::ops {

/// A table with the ops of table(), and for every other name an unknown op (ir::Op::unknown): any number of operands and results, missing
/// ones among them, any attributes and bodies. Results of an unknown op have their declared types, and it is neither evaluated, folded,
/// merged with an equal node nor compiled. One name is one op for the life of the process, so that rules match it in any graph; find()
/// returns nullptr once names fill kUnknownNameBytes.
/// Graphs over this table may contain unknown nodes. Safe from several threads.
const ir::OpTable& table_with_unknown_ops();
/// The same with another table of known ops, which must outlive all use of the result. One table for each `known`, for the life of the
/// process.
const ir::OpTable& table_with_unknown_ops(const ir::OpTable& known);
/// The table is one of these.
bool has_unknown_ops(const ir::OpTable& table);
/// An unknown op of this name, even where table() has an op of that name: for a node that is invalid as that op.
const ir::Op* unknown_op(std::string_view domain, std::string_view name);
inline constexpr size_t kUnknownNameBytes = size_t{16} << 20;

}  // namespace tenon::ops
