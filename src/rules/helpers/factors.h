// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// `views` (outermost first; reshapes, transposes and expands that nobody else reads) of data, which is multiplied by `factor`.
struct Scaled {
  ir::ValueId data;
  double factor = 1;
  std::vector<ir::NodeId> views;
};

/// The number that makes `value`, by a Mul or a Div below at most 8 views; the whole chain of views with factor 1 where there is none.
Scaled scaled_below(const rewrite::GraphQuery& query, ir::ValueId value);

/// The views of another value.
ir::ValueId view_again(rewrite::Rewriter& w, const rewrite::GraphQuery& query, std::span<const ir::NodeId> views, ir::ValueId data);

}  // namespace tenon::rules
