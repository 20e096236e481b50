// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/infer/require.h"

namespace tenon::ops::op_n_gram_repeat_block {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, [](DType d) { return d == DType::i64; }, "i64"));
  TRY(require_dtype(view, 1, [](DType d) { return d == DType::f32; }, "f32"));
  for (size_t k : {0, 1}) TRY(require_rank(view, k, 2));
  if (ranks_known(view, {0, 1})) TRY(require_equal(view, view.type(0).dim(0), view.type(1).dim(0), "batches of input_ids and scores"));
  const int64_t size = view.attributes->integer("ngram_size", 0);
  if (size < 1) return refuse(view, Code::bad_attribute, "ngram_size must be positive").expected("1 or more").found(std::to_string(size));
  set_output(view, 0, view.type(1));
  return {};
}

Result<void> evaluate(Call& call) {
  const Tensor &ids = *call.in[0], &scores = *call.in[1];
  const int64_t size = call.view.attributes->integer("ngram_size", 1), length = ids.shape()[1], vocabulary = scores.shape()[1];
  if (ids.shape()[0] != scores.shape()[0]) return refuse(call.view, Code::shape_mismatch, "the batches of input_ids and scores differ");
  Tensor& y = *TRY(call.make(0, scores.shape()));
  for (int64_t i = 0; i < y.count(); ++i) y.set_number(i, scores.number(i));
  for (int64_t batch = 0; batch < ids.shape()[0]; ++batch) {
    const auto id = [&](int64_t k) { return ids.integer(batch * length + k); };
    const int64_t prefix = length - size + 1;  // where the n-gram begins that the next token ends
    for (int64_t start = 0; start + size <= length; ++start) {
      bool repeats = true;
      for (int64_t k = 0; k + 1 < size && repeats; ++k) repeats = id(start + k) == id(prefix + k);
      if (!repeats) continue;
      const int64_t token = id(start + size - 1);
      if (token < 0 || token >= vocabulary)
        return refuse(call.view, Code::index_out_of_range, "a token of input_ids has no score")
            .expected("0 to " + std::to_string(vocabulary - 1))
            .found(std::to_string(token));
      y.set_number(batch * vocabulary + token, -INFINITY);
    }
  }
  return {};
}

}  // namespace

/// Scores of tokens that would repeat an n-gram of the sequence become -inf.
OP(n_gram_repeat_block) {
    .name = "NGramRepeatBlock",
    .domain = "com.microsoft",
    .inputs = {{"input_ids", "scores"}},
    .outputs = {{"scores_out"}},
    .attributes = {{"ngram_size: int!"}},
    .infer = infer,
    .reference = evaluate,
    .samples = {{"i64[2,6] = [1,2,3,1,2,4, 5,6,5,6,5,6], f32[2,8]; ngram_size=2", "i64[1,5] = [1,2,3,1,2], f32[1,4]; ngram_size=3",
                 "i64[1,3] = [0,1,0], f32[1,4]; ngram_size=1", "i64[1,2] = [0,1], f32[1,4]; ngram_size=4"}},
};

}  // namespace tenon::ops::op_n_gram_repeat_block
