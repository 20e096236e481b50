// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// The result of the root has the type of its operand 0, provably.
bool same_type_as_first(rewrite::Match& m);

/// `value` replaces the result of the root. Always true: `return give(m, w, ...)` ends a rewrite.
bool give(const rewrite::Match& m, rewrite::Rewriter& w, rewrite::ValueId value);

/// The same for all results of the root; those that nobody reads go.
bool give_all(const rewrite::Match& m, rewrite::Rewriter& w, const std::vector<rewrite::ValueId>& results);

/// A node's attributes for another node, but for those of these names.
std::vector<std::pair<std::string, ir::Attribute>> attributes_but(const ir::Node& node, std::initializer_list<std::string_view> names);

/// Operand 0 of the root replaces its result.
bool give_first(const rewrite::Match& m, rewrite::Rewriter& w);

/// The ValueId that the match has kept replaces the result of the root.
bool give_kept(const rewrite::Match& m, rewrite::Rewriter& w);

}  // namespace tenon::rules
