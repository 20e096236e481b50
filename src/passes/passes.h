// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "passes/pass.h"

namespace tenon::passes {

/// Erases nodes whose results nobody uses and constants without users. Keeps nodes with effects and graph inputs.
Result<bool> dead_code(Graph& graph, Context& context);

/// Nodes whose operands are all constant: results of 64 KB and less are computed by the reference at once; larger ones become a lazy
/// expression where one of slice, permute, reshape, concat, cast or scale says them, else they stay. No weight is read or copied.
Result<bool> fold_constants(Graph& graph, Context& context);

/// A body holds the constants that it uses itself instead of capturing them: rules see them there, and a kernel can pack them.
Result<bool> sink_constants(Graph& graph, Context& context);

/// Results whose elements are all known numbers (Shape of a static axis, and what follows) become constants.
Result<bool> shape_arithmetic(Graph& graph, Context& context);

/// Equal constants, then equal nodes, by hash-consing in topological order. Nodes with bodies, effects or randomness stay.
Result<bool> common_subexpressions(Graph& graph, Context& context);

/// The rules of stage clean; of clean and fuse; of clean, fuse and combine. Each with constant folding on the way.
Result<bool> clean(Graph& graph, Context& context);
Result<bool> fuse(Graph& graph, Context& context);
/// The rules of stage trim alone, after all is recognised and before products of one operand are joined, which one reader may need whole.
Result<bool> trim(Graph& graph, Context& context);
Result<bool> combine(Graph& graph, Context& context);
/// Encoders under a mask of [sequences, length] compute the rows that it shows, and those that are requested, one after the other
/// (PackedRows, RaggedAttention); where hidden rows are requested nothing changes. Not before `trim` and `combine`, whose rules read padded
/// rows. Cost: linear in the nodes.
Result<bool> pack_rows(Graph& graph, Context& context);
/// The rules of stage target, alone and without folding: the finished graph in the ops of the runtime that will run it.
Result<bool> target(Graph& graph, Context& context);

/// One constant a result where the node folds; nullopt where it does not (the fold hook of the rewriting driver).
std::optional<std::vector<ir::ConstantRef>> fold_node(const Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
