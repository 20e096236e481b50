// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// A value that is `data` times `factor`, read through `views`: reshapes, transposes and expands without other users, the last one first.
struct ScaledView {
  ir::ValueId data;
  double factor = 1;
  std::vector<ir::NodeId> views;
};

/// `value` as views of a Mul or Div by a constant, at most 8 views; where there is none all views with factor 1.
ScaledView scaled_view_of(const rewrite::GraphQuery& query, ir::ValueId value);

/// Inserts the same views of another value; returns the last one's result.
ir::ValueId clone_views(rewrite::Rewriter& w, const rewrite::GraphQuery& query, std::span<const ir::NodeId> views, ir::ValueId data);

}  // namespace tenon::rules
