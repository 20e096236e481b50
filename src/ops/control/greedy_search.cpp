// SPDX-License-Identifier: Apache-2.0
// Text generation as one op: the body `decoder` runs once a token, and the most probable token of each sequence is appended.
// Inputs of the body: input_ids, position_ids, attention_mask and a cache for each layer. Its results: logits and the extended caches.
#include <algorithm>
#include <cmath>

#include "ops/control/bodies.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_greedy_search {

namespace {

constexpr int64_t kUnwritten = -1;  ///< where every sequence ended earlier
constexpr size_t kReads = 3;        ///< operands of the decoder in front of its caches
enum Input : size_t { kIds, kLongest, kShortest, kPenalty, kWords, kFirstWords, kMask };

size_t decoder_of(const NodeView& view) {
  for (size_t k = 0; k < view.body_names.size(); ++k)
    if (view.body_names[k] == "decoder") return k;
  return 0;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kIds, is_index, "i32 or i64"));
  TRY(require_rank(view, kIds, 2));
  for (size_t k : {kLongest, kShortest}) TRY(require_single_element(view, k));
  if (view.bodies.empty()) return refuse(view, Code::bad_attribute, "needs the body 'decoder'");
  const size_t body = decoder_of(view);
  if (view.bodies[body]->inputs().size() < kReads + view.body_captures[body])
    return refuse(view, Code::bad_graph, "the decoder must take input_ids, position_ids and attention_mask");
  if (view.has(kMask)) {
    TRY(require_rank(view, kMask, 2));
    if (ranks_known(view, {kIds, kMask}))
      TRY(require_equal(view, *view.type(kIds).shape, *view.type(kMask).shape, "sizes of words and mask"));
  }
  Type out(dtype_of(view, kIds));
  if (view.type(kIds).has_rank()) {
    const auto longest = known_ints(view, kLongest);
    out.shape = DimList{view.type(kIds).dim(0), longest && longest->size() == 1 ? Dim((*longest)[0]) : view.symbols->fresh()};
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The state of one search; a row for each sequence.
struct Search {
  Call& call;
  int64_t batch = 0, longest = 0, shortest = 0, end = 0, pad = 0;
  std::vector<Ints> words, mask;      ///< the tokens so far, and their attention mask
  std::vector<Ints> step, positions;  ///< the tokens that the decoder reads next, and their positions
  std::vector<bool> ended;
  std::vector<Tensor> caches;

  Tensor table(const std::vector<Ints>& rows) const {
    Tensor t = *Tensor::make(DType::i32, {batch, static_cast<int64_t>(rows[0].size())});
    for (int64_t i = 0; i < t.count(); ++i) t.set_integer(i, rows[i / t.shape()[1]][i % t.shape()[1]]);
    return t;
  }

  void start(const Tensor& ids) {
    words.assign(batch, {});
    mask = step = positions = words;
    ended.assign(batch, false);
    for (int64_t b = 0; b < batch; ++b) {
      int64_t place = 0;
      for (int64_t k = 0; k < ids.shape()[1]; ++k) {
        const int64_t at = b * ids.shape()[1] + k, word = ids.integer(at);
        const bool visible = call.has(kMask) ? call.in[kMask]->integer(at) != 0 : word != pad;
        words[b].push_back(word);
        mask[b].push_back(visible);
        positions[b].push_back(visible ? place : std::max<int64_t>(place - 1, 0));
        place += visible;
      }
    }
    step = words;
  }

  int64_t likeliest(const Tensor& logits, int64_t b) const {
    const int64_t size = logits.shape()[2], row = (b * logits.shape()[1] + logits.shape()[1] - 1) * size;
    int64_t best = -1;
    for (int64_t w = 0; w < size; ++w) {
      if (w == end && static_cast<int64_t>(words[b].size()) < shortest) continue;
      if (best < 0 || logits.number(row + w) > logits.number(row + best)) best = w;
    }
    return best;
  }

  /// Takes the results of a step, and appends one token to each sequence.
  Result<void> iterate(size_t body) {
    std::vector<Tensor> inputs{table(step), table(positions), table(mask)};
    inputs.insert(inputs.end(), caches.begin(), caches.end());
    for (Tensor& t : captures_of(call, body)) inputs.push_back(std::move(t));
    std::vector<Tensor> results = TRY(call.run_body(body, std::move(inputs)));
    if (results.size() != caches.size() + 1 || results[0].rank() != 3 || results[0].shape()[0] != batch || results[0].shape()[1] < 1)
      return refuse(call.view, Code::bad_graph, "the decoder must give logits and one cache for each that it takes");
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t word = ended[b] ? end : likeliest(results[0], b);
      ended[b] = word == end;
      words[b].push_back(ended[b] ? pad : word);
      mask[b].push_back(1);
      step[b] = {words[b].back()};
      positions[b] = {positions[b].back() + 1};
    }
    caches.assign(std::make_move_iterator(results.begin() + 1), std::make_move_iterator(results.end()));
    return {};
  }
};

/// Caches of length 0 (axis 3 of 5), otherwise of the shapes that the body declares.
Result<std::vector<Tensor>> no_caches(const Call& call, size_t decoder, int64_t batch) {
  const std::vector<Type> types = body_input_types(call.view, decoder);
  std::vector<Tensor> out;
  for (size_t k = kReads; k + call.view.body_captures[decoder] < types.size(); ++k) {
    const Type& type = types[k];
    if (type.rank() != 5 || !type.dim(2).is_number() || !type.dim(4).is_number())
      return refuse(call.view, Code::not_supported, "not supported yet: a cache that is not [2, batch, heads, length, size]");
    out.push_back(TRY(Tensor::make(call.wide ? DType::f64 : type.dtype, {2, batch, type.dim(2).value(), 0, type.dim(4).value()})));
  }
  return out;
}

Result<void> evaluate(Call& call) {
  const ir::Attributes& a = *call.view.attributes;
  for (size_t k : {kPenalty, kWords, kFirstWords})
    if (call.has(k)) return refuse(call.view, Code::not_supported, "not supported yet: penalties and word masks");
  if (a.integer("model_type", 0) != 0 || a.integer("no_repeat_ngram_size", 0) > 0)
    return refuse(call.view, Code::not_supported, "not supported yet: an encoder, or words that must not repeat");
  const size_t body = decoder_of(call.view);
  Search search{call,
                call.in[kIds]->shape()[0],
                call.in[kLongest]->integer(0),
                0,
                a.integer("eos_token_id", 0),
                a.integer("pad_token_id", 0),
                {},
                {},
                {},
                {},
                {},
                {}};
  if (call.has(kShortest)) search.shortest = call.in[kShortest]->integer(0);
  search.caches = TRY(no_caches(call, body, search.batch));
  search.start(*call.in[kIds]);
  while (search.batch > 0 && static_cast<int64_t>(search.words[0].size()) < search.longest &&
         !std::ranges::all_of(search.ended, std::identity()))
    TRY(search.iterate(body));
  Tensor& out = *TRY(call.make(0, {search.batch, search.longest}));
  for (int64_t i = 0; i < out.count(); ++i) {
    const Ints& row = search.words[i / search.longest];
    const auto k = static_cast<size_t>(i % search.longest);
    out.set_integer(i, k < row.size() ? row[k] : kUnwritten);
  }
  return {};
}

}  // namespace

OP(greedy_search) {
    .name = "GreedySearch",
    .domain = "com.microsoft",
    .inputs = {{"input_ids", "max_length", "min_length?", "repetition_penalty?", "vocab_mask?", "prefix_vocab_mask?", "attention_mask?"}},
    .outputs = {{"sequences"}},
    .attributes = {{"decoder: graph!", "decoder_start_token_id: int = -1", "encoder: graph", "eos_token_id: int!", "init_decoder: graph",
                    "model_type: int = 0", "no_repeat_ngram_size: int = 0", "pad_token_id: int!", "vocab_size: int = -1"}},
    .infer = infer,
    .reference = evaluate,
};

}  // namespace tenon::ops::op_greedy_search
