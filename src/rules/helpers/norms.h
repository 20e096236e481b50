// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon), written out.
struct BareNorm {
  ir::ValueId x;
  double epsilon = 0;
  bool centred = false;
  int64_t axis = 0;     ///< the first of the axes that are normalised; those after it are too
  ir::ValueId inverse;  ///< 1 / sqrt(...), where the factor is written so
};

/// The norm that `divided`, a Div or a Mul with a reciprocal, is; its nodes are taken. Every number fits attributes, but for what
/// `refuse` says. The scale of such a norm is 1.
std::optional<BareNorm> bare_norm(rewrite::Match& match);

/// Ones in the shape of the axes that are normalised: a constant where their sizes are numbers, else made of the shape of x.
ir::ValueId ones_of(const rewrite::Match& match, rewrite::Rewriter& w, const BareNorm& norm);

}  // namespace tenon::rules
