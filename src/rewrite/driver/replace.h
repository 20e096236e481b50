// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "rewrite/driver/journal.h"

namespace tenon::rewrite {

using NameSet = std::set<std::string, std::less<>>;
/// Does the node, or a value that it makes, have one of the names?
bool is_kept(const ir::Graph& graph, ir::NodeId node, const NameSet& keep);

/// Points the uses of `from` at `to`, hands the name over and refines types. Returns the reason of a refusal, else
/// empty; a refusal may leave edits that the journal undoes.
std::string replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to, Journal& journal);

/// Empty where a value of type `to` may replace one of type `from`.
std::string_view type_conflict(const ir::Type& from, const ir::Type& to);

/// Inference again for all that follows from a value of which more is known than before: its type, or its elements. In
/// topological order, so that each node is inferred once. Cost: the nodes whose results change.
void reinfer_users(ir::Graph& graph, ir::ValueId value, Journal& journal);
/// The same, starting with the nodes themselves.
void reinfer(ir::Graph& graph, std::span<const ir::NodeId> nodes, Journal& journal);
/// The same where what was known of the results may not be true any more: it is forgotten first.
/// Errors: those of inference, where a node is illegal with its new operands.
Result<void> retype(ir::Graph& graph, std::span<const ir::NodeId> nodes, Journal& journal);

}  // namespace tenon::rewrite
