// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "rewrite/journal.h"
#include "rewrite/match.h"
#include "rewrite/rule_set.h"

namespace tenon::rewrite {

/// Asks the rule. A rule that throws does not match.
bool matches(const CompiledRule& rule, Match& match);

/// Why the match may not be rewritten whatever the rule says; empty where it may. Cost: the uses of the values inside.
std::string_view guard(const Match& match, const Rule& rule);

/// Carries a decided match out. Returns the reason where it was refused after all: then the graph is as before.
/// The graph's listener must be `journal`; the caller erases what died.
std::string apply(ir::Graph& graph, const CompiledRule& rule, const Match& match, Journal& journal);

/// Points the uses of `from` at `to`, hands the name over and refines types. Returns the reason of a refusal, else
/// empty; a refusal may leave edits that the journal undoes.
std::string replace(ir::Graph& graph, ir::ValueId from, ir::ValueId to, Journal& journal);

/// True where nobody would miss the node: no result is used and the op has no effects.
bool is_dead(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::rewrite
