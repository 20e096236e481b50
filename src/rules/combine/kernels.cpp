// SPDX-License-Identifier: Apache-2.0
// Types that ONNX Runtime's CPU build has no kernel for: the op runs on a wider type, between casts. In dtypes: 1 f32, 7 i64, 10 f16,
// 12 u32, 16 bf16. Before the last stage: the casts may meet others there.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::combine_kernels {
using namespace rewrite;
namespace {

DType wider(DType dtype) {
  switch (dtype) {
    case DType::bf16: return DType::f32;
    case DType::u32: return DType::i64;
    default: return DType::none;
  }
}

bool has_no_kernel(Match& m) { return wider(m.dtype(m.operand(m.root(), 0))) != DType::none; }

bool between_casts(const Match& m, Rewriter& w) {
  const Node& n = m.node(m.root());
  const DType narrow = m.dtype(n.inputs[0]);
  const auto cast = [&](ValueId x, DType to) { return w("Cast", {x}, {{"to", static_cast<int64_t>(to)}}); };
  std::vector<ValueId> inputs = n.inputs;
  inputs[0] = cast(inputs[0], wider(narrow));
  const auto results = w.clone_with_operands(m.root(), inputs);
  if (!results[0]) return false;
  w.replace(n.outputs[0], cast(results[0], narrow));
  if (n.outputs.size() > 1 && n.outputs[1]) w.replace(n.outputs[1], results[1]);
  return true;
}

}  // namespace

RULES(combine_kernels) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "cos_bf16",
             .docs = "Cos of bf16 is computed in f32",
             .equation = "Cos(?x) => Cast(Cos(Cast(?x, to=1)), to=16) where dtype(?x) == bf16",
             .covered_patterns = "MissingCosSin"},
            {.name = "sin_bf16",
             .docs = "Sin of bf16 is computed in f32",
             .equation = "Sin(?x) => Cast(Sin(Cast(?x, to=1)), to=16) where dtype(?x) == bf16",
             .covered_patterns = "MissingCosSin"},
            {.name = "range_f16",
             .docs = "Range of f16 is computed in f32",
             .equation = "Range(?a, ?b, ?c) => Cast(Range(Cast(?a, to=1), Cast(?b, to=1), Cast(?c, to=1)), to=10) where dtype(?a) == f16",
             .numerics = Numerics::reassociating,
             .covered_patterns = "MissingRange"},
            {.name = "range_bf16",
             .docs = "Range of bf16 is computed in f32",
             .equation = "Range(?a, ?b, ?c) => Cast(Range(Cast(?a, to=1), Cast(?b, to=1), Cast(?c, to=1)), to=16) where dtype(?a) == bf16",
             .numerics = Numerics::reassociating,
             .covered_patterns = "MissingRange"},
            {.name = "reduce_max",
             .docs = "the largest of bf16 numbers is found in f32, of u32 numbers in i64",
             .roots = "ReduceMax",
             .match = has_no_kernel,
             .rewrite = between_casts,
             .covered_patterns = "MissingReduceMax"},
            {.name = "top_k",
             .docs = "the largest of bf16 numbers are found in f32, of u32 numbers in i64",
             .roots = "TopK",
             .match = has_no_kernel,
             .rewrite = between_casts,
             .covered_patterns = "MissingTopK"},
        },
};

}  // namespace tenon::rules::combine_kernels
