// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "rewrite/driver/journal.h"

namespace tenon::rewrite {

using NameSet = std::set<std::string, std::less<>>;
/// Whether the node or one of its results has one of these names.
bool is_kept(const ir::Graph& graph, ir::NodeId node, const NameSet& keep);

/// Replaces all uses of `from` by `to`, which gets the name of `from` and merges its known type. Returns the reason where that is not
/// possible, else an empty string; where it is not possible the journal may have edits to undo. Does
/// not look at names to keep (is_kept): the caller does.
std::string try_replace_all_uses(ir::Graph& graph, ir::ValueId from, ir::ValueId to, Journal& journal);

/// The reason why a value of type `to` cannot replace one of type `from`; empty where it can.
std::string_view type_conflict(const ir::Type& from, const ir::Type& to);

/// Infers the users of a value whose type or elements are known better than before, and their users where a result changes. In topological
/// order, so that each node is inferred once. Cost: the nodes whose results change.
void reinfer_users(ir::Graph& graph, ir::ValueId value, Journal& journal);
/// Infers the nodes again, and their users where a result changes.
void reinfer(ir::Graph& graph, std::span<const ir::NodeId> nodes, Journal& journal);
/// Like reinfer(), where the old types of the results may be wrong: they are dropped before each inference.
/// Errors: those of inference, where a node is illegal with its new operands.
Result<void> retype(ir::Graph& graph, std::span<const ir::NodeId> nodes, Journal& journal);

}  // namespace tenon::rewrite
