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

/// Whether the root's result has the dtype of its operand 0 and provably the same shape.
bool root_has_type_of_first_operand(rewrite::Match& m);

/// Replaces the root's result by `value`. Always true: `return replace_root(m, w, ...)` ends a rewrite function.
bool replace_root(const rewrite::Match& m, rewrite::Rewriter& w, rewrite::ValueId value);

/// Replaces each result of the root, but for those that have been dropped, by the value of the same index.
bool replace_root_results(const rewrite::Match& m, rewrite::Rewriter& w, const std::vector<rewrite::ValueId>& results);

/// The node's attributes without those of these names.
std::vector<std::pair<std::string, ir::Attribute>> attributes_except(const ir::Node& node, std::initializer_list<std::string_view> names);

/// Replaces the root's result by its operand 0.
bool replace_root_with_first_operand(const rewrite::Match& m, rewrite::Rewriter& w);

/// Replaces the root's result by the ValueId that the match function passed to Match::accept.
bool replace_root_with_state(const rewrite::Match& m, rewrite::Rewriter& w);

}  // namespace tenon::rules
