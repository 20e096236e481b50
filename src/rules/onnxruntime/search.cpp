// SPDX-License-Identifier: Apache-2.0
// GreedySearch of ONNX Runtime takes words and lengths in 32 bits; exporters write 64.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_search {
using namespace rewrite;
namespace {

bool has_wide_words(Match& m) {
  const Node& n = m.node(m.root());
  for (uint32_t k = 0; k < n.explicit_inputs; ++k)
    if (n.inputs[k] && m.dtype(n.inputs[k]) == DType::i64) return true;
  return false;
}

/// The same node with the same bodies on other operands.
NodeId copied(const Match& m, Rewriter& w, std::vector<ValueId> inputs) {
  Graph& graph = w.edit();
  const Node& n = m.node(m.root());
  const NodeId copy = graph.insert(*n.op, std::move(inputs), 1, n.attributes, w.place());
  for (size_t k = 0; k < m.node(m.root()).bodies.size(); ++k) {
    const Node& source = m.node(m.root());
    const ir::Body& body = source.bodies[k];
    const std::vector<ValueId> captures(source.inputs.begin() + body.first_capture,
                                        source.inputs.begin() + body.first_capture + body.captures);
    graph.attach_body(copy, body.name, body.graph->clone_body(graph), captures);
  }
  return copy;
}

bool narrowed(const Match& m, Rewriter& w) {
  const auto cast = [&](ValueId x, DType to) { return w("Cast", {x}, {{"to", static_cast<int64_t>(to)}}); };
  const Node& n = m.node(m.root());
  std::vector<ValueId> inputs(n.inputs.begin(), n.inputs.begin() + n.explicit_inputs);
  const DType words = m.dtype(m.result(m.root()));
  for (ValueId& x : inputs)
    if (x && m.dtype(x) == DType::i64) x = cast(x, DType::i32);
  if (!w.status()) return false;
  const NodeId copy = copied(m, w, std::move(inputs));
  if (!ir::infer(w.edit(), copy)) return false;
  const ValueId found = w.graph().node(copy).outputs[0];
  return replace_root(m, w, words == DType::i32 ? found : cast(found, words));
}

}  // namespace

RULES(onnxruntime_search) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "greedy_search",
             .docs = "words and lengths of GreedySearch in the 32 bits that its kernel takes",
             .roots = "com.microsoft::GreedySearch",
             .match = has_wide_words,
             .rewrite = narrowed,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "GreedySearch"},
        },
};

}  // namespace tenon::rules::onnxruntime_search
