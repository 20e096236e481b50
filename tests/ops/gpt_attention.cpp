// SPDX-License-Identifier: Apache-2.0
// GPTAttention by reference, against attention of each sequence by itself, in f64: what combines, over batches, packed rows, caches and
// pages.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <random>

#include "ir/builder.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

using Row = std::vector<double>;
using Sequence = std::vector<Row>;  // rows of qkv, a token each
using Numbers = std::vector<int64_t>;

constexpr int64_t kHeads = 4, kKvHeads = 2, kSize = 4, kWidth = (kHeads + 2 * kKvHeads) * kSize, kRows = 12;

struct Options {
  bool causal = true;
  int64_t rotation = 0, rotated = 4;
  double scale = 1, cap = 0, scaling = 1;
  int64_t window = 0;        // 0: none
  Row logn = {}, bias = {};  // empty: none
};

Options random_options(std::mt19937& random) {
  const auto one_of = [&](auto... x) { return std::array{x...}[random() % sizeof...(x)]; };
  Options o;
  o.rotation = one_of(0, 1, 2);
  o.rotated = one_of(2, 4);
  o.scale = one_of(1.0, 2.0);
  o.cap = one_of(0.0, 0.5);
  o.scaling = one_of(1.0, 2.0);
  o.causal = one_of(true, true, false);
  o.window = o.causal ? one_of(0, 1, 3) : 0;
  if (random() % 2) o.logn = {1, 1, 1, 1.25, 1.5, 1.75, 2, 2, 2.25, 2.5, 2.5, 3};
  if (random() % 2)
    for (int64_t i = 0; i < kWidth; ++i) o.bias.push_back(static_cast<double>(i % 5) / 4 - 0.5);
  return o;
}

Sequence random_sequence(std::mt19937& random, int64_t tokens) {
  std::normal_distribution<double> normal;
  Sequence out(static_cast<size_t>(tokens), Row(kWidth));
  for (Row& row : out)
    for (double& x : row) x = normal(random);
  return out;
}

/// Head `h` of row `t` (heads of q, then of k, then of v), rotated where it is of q or k.
Row head_of(const Sequence& x, int64_t t, int64_t h, const Options& o) {
  Row out(kSize);
  for (int64_t i = 0; i < kSize; ++i) {
    const auto at = static_cast<size_t>(h * kSize + i);
    out[i] = x[t][at] + (o.bias.empty() ? 0 : o.bias[at]);
  }
  if (o.rotation == 0 || h >= kHeads + kKvHeads) return out;
  for (int64_t i = 0; i < o.rotated / 2; ++i) {
    const double angle = static_cast<double>(t) / o.scale * std::pow(10000.0, -2.0 * i / o.rotated);
    double &a = out[o.rotation == 1 ? 2 * i : i], &b = out[o.rotation == 1 ? 2 * i + 1 : i + o.rotated / 2];
    const double was = a;
    a = std::cos(angle) * a - std::sin(angle) * b;
    b = std::sin(angle) * was + std::cos(angle) * b;
  }
  return out;
}

/// The output of token t of a sequence of which `known` tokens are known.
Row attended(const Sequence& x, int64_t t, int64_t known, const Options& o) {
  Row out;
  for (int64_t h = 0; h < kHeads; ++h) {
    const int64_t group = h / (kHeads / kKvHeads), first = o.window ? std::max<int64_t>(0, t - o.window + 1) : 0;
    const Row q = head_of(x, t, h, o);
    Row sum(kSize);
    double all = 0;
    for (int64_t j = first; j < (o.causal ? t + 1 : known); ++j) {
      const Row k = head_of(x, j, kHeads + group, o), v = head_of(x, j, kHeads + kKvHeads + group, o);
      double s = std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / (o.scaling * std::sqrt(double{kSize}));
      if (!o.logn.empty()) s *= o.logn[t];
      if (o.cap > 0) s = o.cap * std::tanh(s / o.cap);
      all += std::exp(s);
      for (int64_t i = 0; i < kSize; ++i) sum[i] += std::exp(s) * v[i];
    }
    for (double e : sum) out.push_back(e / all);
  }
  return out;
}

Tensor floats(Sizes shape, const Row& data) {
  Tensor t = *Tensor::make(DType::f64, std::move(shape));
  std::ranges::copy(data, t.as_mutable<double>().begin());
  return t;
}
Tensor whole(const Numbers& data) { return Tensor::of_i64({static_cast<int64_t>(data.size())}, data); }

struct Operands {
  Tensor qkv;
  std::optional<Tensor> lengths, past, past_lengths, pages;
};

/// One call: output and present_key_value.
Result<std::vector<Tensor>> run(const Operands& in, const Options& o) {
  ir::Graph graph(table());
  std::vector<Tensor> inputs;
  std::vector<ir::ValueId> operands;
  const auto add = [&](const std::optional<Tensor>& t) {
    if (!t) return operands.push_back({});
    operands.push_back(
        graph.add_input("x" + std::to_string(operands.size()), ir::Type(t->dtype(), DimList(t->shape().begin(), t->shape().end()))));
    inputs.push_back(*t);
  };
  add(in.qkv);
  add(in.lengths);
  add(in.past);
  add(o.bias.empty() ? std::optional<Tensor>() : floats({kWidth}, o.bias));
  add(in.past_lengths);
  add(in.pages);
  add(o.window ? whole({o.window}) : std::optional<Tensor>());
  add(o.logn.empty() ? std::optional<Tensor>() : floats({static_cast<int64_t>(o.logn.size())}, o.logn));
  while (!operands.back()) operands.pop_back();
  ir::Builder build(graph);
  const auto y = build.many("tenon::GPTAttention", operands, 2,
                            {{"num_heads", kHeads},
                             {"num_kv_heads", kKvHeads},
                             {"head_size", kSize},
                             {"packed", int64_t{in.lengths.has_value()}},
                             {"causal", int64_t{o.causal}},
                             {"position_embedding_type", o.rotation},
                             {"rotary_embedding_dim", o.rotated},
                             {"rotary_embedding_scale_type", int64_t{o.scale != 1}},
                             {"rotary_embedding_scale", static_cast<float>(o.scale)},
                             {"attn_logit_softcapping_scale", static_cast<float>(o.cap)},
                             {"q_scaling", static_cast<float>(o.scaling)}});
  TRY(build.status());
  for (ir::ValueId v : y) graph.add_output(v);
  return evaluate(graph, inputs);
}

/// Rows of these sequences, [from, from + count) of each, one after the other.
Tensor packed(const std::vector<Sequence>& all, const Numbers& from, const Numbers& count, Sizes shape = {}) {
  Row data;
  for (size_t b = 0; b < all.size(); ++b)
    for (int64_t t = from[b]; t < from[b] + count[b]; ++t) data.insert(data.end(), all[b][t].begin(), all[b][t].end());
  const auto tokens = static_cast<int64_t>(data.size()) / kWidth;
  return floats(shape.empty() ? Sizes{1, tokens, kWidth} : std::move(shape), data);
}

void expect_attended(const Tensor& y, const std::vector<Sequence>& all, const Numbers& from, const Numbers& count, const Options& o) {
  int64_t at = 0;
  for (size_t b = 0; b < all.size(); ++b)
    for (int64_t t = from[b]; t < from[b] + count[b]; ++t)
      for (double want : attended(all[b], t, from[b] + count[b], o))
        ASSERT_NEAR(y.number(at++), want, 1e-12) << "sequence " << b << ", token " << t;
  EXPECT_EQ(at, y.count());
}

TEST(GptAttention, OfABatchAfterItsPast) {
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    const Options o = random_options(random);
    const std::vector<Sequence> all{random_sequence(random, 9), random_sequence(random, 9)};
    Operands in;
    for (int64_t from = 0, count; from < 9; from += count) {
      count = std::min<int64_t>(9 - from, 1 + random() % 5);
      in.qkv = packed(all, {from, from}, {count, count}, {2, count, kWidth});
      const auto got = run(in, o);
      ASSERT_TRUE(got) << got.error().text();
      expect_attended((*got)[0], all, {from, from}, {count, count}, o);
      in.past = (*got)[1];
    }
  }
}

TEST(GptAttention, OfPackedSequencesWithoutAPast) {
  std::mt19937 random(2);
  for (int round = 0; round < 12; ++round) {
    const Options o = random_options(random);
    const Numbers counts{static_cast<int64_t>(random() % 4), 1 + static_cast<int64_t>(random() % 7), 2}, none{0, 0, 0};
    std::vector<Sequence> all;
    for (int64_t n : counts) all.push_back(random_sequence(random, n));
    const auto got = run({packed(all, none, counts), whole(counts), {}, {}, {}}, o);
    ASSERT_TRUE(got) << got.error().text();
    expect_attended((*got)[0], all, none, counts, o);
  }
}

constexpr int64_t kBlock = 4;

/// A page table [sequences, kRows / kBlock] with pages in a random order, and -1 for those of which no token is.
Tensor random_pages(std::mt19937& random, const Numbers& tokens) {
  Numbers order(tokens.size() * (kRows / kBlock));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::shuffle(order, random);
  for (size_t k = 0; k < order.size(); ++k)
    if (static_cast<int64_t>(k % (kRows / kBlock)) * kBlock >= tokens[k / (kRows / kBlock)]) order[k] = -1;
  return Tensor::of_i64({static_cast<int64_t>(tokens.size()), kRows / kBlock}, order);
}

/// Prompts, chunks and single tokens in one call, over a cache and over pages.
TEST(GptAttention, OfPackedSequencesOverACacheAndPages) {
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    const Options o = random_options(random);
    const Numbers tokens{11, 4, 7};
    std::vector<Sequence> all;
    for (int64_t n : tokens) all.push_back(random_sequence(random, n));
    Tensor cache = floats({3, 2, kKvHeads, kRows, kSize}, Row(3 * 2 * kKvHeads * kRows * kSize, 7)),
           pool = floats({9, 2, kKvHeads, kBlock, kSize}, Row(9 * 2 * kKvHeads * kBlock * kSize, -3));
    const Tensor pages = random_pages(random, tokens);
    for (Numbers from{0, 0, 0}; from != tokens;) {
      Numbers count(3);
      for (size_t b = 0; b < 3; ++b) count[b] = std::min<int64_t>(tokens[b] - from[b], random() % 5);
      const Tensor qkv = packed(all, from, count);
      const auto linear = run({qkv, whole(count), cache, whole(from), {}}, o),
                 paged = run({qkv, whole(count), pool, whole(from), pages}, o);
      ASSERT_TRUE(linear) << linear.error().text();
      ASSERT_TRUE(paged) << paged.error().text();
      expect_attended((*linear)[0], all, from, count, o);
      EXPECT_EQ(numbers_of((*linear)[0]), numbers_of((*paged)[0])) << "bits";
      cache = (*linear)[1];
      pool = (*paged)[1];
      for (size_t b = 0; b < 3; ++b) from[b] += count[b];
    }
  }
}

TEST(GptAttention, OfASequenceHasTheSameBitsAloneAndWithOthers) {
  std::mt19937 random(4);
  const Options o = random_options(random);
  const std::vector<Sequence> all{random_sequence(random, 5), random_sequence(random, 9)};
  const Tensor two = floats({2, 2, kKvHeads, kRows, kSize}, Row(2 * 2 * kKvHeads * kRows * kSize)),
               one = floats({1, 2, kKvHeads, kRows, kSize}, Row(2 * kKvHeads * kRows * kSize));
  const auto mixed = run({packed(all, {0, 0}, {5, 9}), whole({5, 9}), two, whole({0, 0}), {}}, o);
  const auto alone = run({packed({all[1]}, {0}, {9}), whole({9}), one, whole({0}), {}}, o);
  ASSERT_TRUE(mixed && alone);
  const Row both = numbers_of((*mixed)[0]);
  EXPECT_EQ(Row(both.begin() + 5 * kHeads * kSize, both.end()), numbers_of((*alone)[0]));
}

TEST(GptAttention, RefusesRowsAndPagesThatAreNotThere) {
  std::mt19937 random(5);
  const std::vector<Sequence> all{random_sequence(random, 9)};
  const Tensor cache = floats({1, 2, kKvHeads, 8, kSize}, Row(2 * kKvHeads * 8 * kSize)),
               pool = floats({3, 2, kKvHeads, kBlock, kSize}, Row(3 * 2 * kKvHeads * kBlock * kSize));
  const auto pages = [](const Numbers& list) { return Tensor::of_i64({1, static_cast<int64_t>(list.size())}, list); };
  std::string text;
  const auto code = [&](const Numbers& counts, const Tensor& past, int64_t had, const std::optional<Tensor>& table) {
    const auto got = run({packed(all, {0}, {3}), whole(counts), past, whole({had}), table}, {});
    text = got ? "" : got.error().text();
    return got ? Code::internal : got.error().code();
  };
  EXPECT_EQ(code({3}, cache, 5, {}), Code::internal) << "no error";
  EXPECT_EQ(code({3}, pool, 5, pages({1, 0})), Code::internal) << "no error";
  EXPECT_EQ(code({3}, pool, 2, pages({1, 0, 99})), Code::internal) << "99 is behind the last token";
  EXPECT_EQ(code({3}, cache, 6, {}), Code::index_out_of_range) << "a row after the last";
  EXPECT_EQ(code({3}, cache, -1, {}), Code::index_out_of_range);
  EXPECT_EQ(code({2}, cache, 0, {}), Code::index_out_of_range) << "a token of no sequence";
  EXPECT_EQ(code({4}, cache, 0, {}), Code::index_out_of_range) << "a token that is missing";
  EXPECT_EQ(code({3}, pool, 6, pages({1, 0})), Code::index_out_of_range) << "a page after the last";
  EXPECT_EQ(code({3}, pool, 2, pages({1, 3})), Code::index_out_of_range);
  EXPECT_EQ(code({3}, pool, 2, pages({1, -1})), Code::index_out_of_range);
  EXPECT_TRUE(text.contains("ScatterND")) << "before anything is written: " << text;
  EXPECT_EQ(code({3}, pool, 5, pages({-1, 1})), Code::index_out_of_range) << "a page that is only read";
}

TEST(GptAttention, RefusesWhatDoesNotCombine) {
  std::mt19937 random(6);
  const std::vector<Sequence> all{random_sequence(random, 3)};
  const Tensor qkv = packed(all, {0}, {3}), cache = floats({1, 2, kKvHeads, 8, kSize}, Row(2 * kKvHeads * 8 * kSize));
  const auto text = [&](const Operands& in, const Options& o = {}) {
    const auto got = run(in, o);
    return got ? "no error" : got.error().text();
  };
  EXPECT_TRUE(text({qkv, whole({3}), cache, {}, {}}).contains("past_key_value in the packed layout needs past_lengths"));
  EXPECT_TRUE(text({qkv, whole({3}), {}, whole({0}), {}}).contains("past_lengths needs past_key_value"));
  EXPECT_TRUE(text({qkv, {}, cache, whole({0}), {}}).contains("not supported yet: past_lengths without packed=1"));
  EXPECT_TRUE(text({qkv, whole({3}), cache, whole({0, 0}), {}}).contains("sizes of operand 4 differ"));
  EXPECT_TRUE(text({qkv, {}, {}, {}, {}}, {.causal = false, .window = 2}).contains("a window without causal=1"));
  EXPECT_TRUE(text({qkv, {}, {}, {}, {}}, {.rotation = 4}).contains("not supported yet: this position_embedding_type"));
  EXPECT_TRUE(text({qkv, {}, {}, {}, {}}, {.rotation = 1, .rotated = 3}).contains("the rotation does not fit the heads"));
}

}  // namespace
}  // namespace tenon::ops
