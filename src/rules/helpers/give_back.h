// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// The result of the root has the type of its operand 0, provably.
bool same_type_as_first(rewrite::Match& m);

/// Operand 0 of the root stands for its result.
bool give_first(const rewrite::Match& m, rewrite::Rewriter& w);

/// The ValueId that the match has kept stands for the result of the root.
bool give_kept(const rewrite::Match& m, rewrite::Rewriter& w);

}  // namespace tenon::rules
