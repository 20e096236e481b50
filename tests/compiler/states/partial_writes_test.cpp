// SPDX-License-Identifier: Apache-2.0
// Writes to a part of a bound state: all memory pages that a run must not write to are read-only, so that a wrong write ends the process.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "states/stepper.h"

namespace tenon::compiler {
namespace {

constexpr size_t kPage = 4096;

/// A state of f32 whose innermost rows of 1,024 elements are pages of memory, bound in a context.
class BoundPages {
 public:
  BoundPages(runtime::Context& context, size_t state, Sizes shape) : shape_(std::move(shape)) {
    rows_ = 1;
    for (size_t d = 0; d + 1 < shape_.size(); ++d) rows_ *= static_cast<size_t>(shape_[d]);
    EXPECT_EQ(shape_.back() * 4, static_cast<int64_t>(kPage));
    void* const memory = mmap(nullptr, rows_ * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    data_ = static_cast<std::byte*>(memory);
    const auto bound = context.bind_state(state, Tensor::view(DType::f32, shape_, data_, nullptr));
    EXPECT_TRUE(bound) << bound.error().text();
  }
  ~BoundPages() { munmap(data_, rows_ * kPage); }

  /// From now on only these rows can be written.
  void allow(const std::vector<int64_t>& rows) {
    ASSERT_EQ(mprotect(data_, rows_ * kPage, PROT_READ), 0);
    for (const int64_t r : rows) ASSERT_EQ(mprotect(data_ + static_cast<size_t>(r) * kPage, kPage, PROT_READ | PROT_WRITE), 0);
  }
  const float* row(int64_t number) const { return reinterpret_cast<const float*>(data_ + static_cast<size_t>(number) * kPage); }

 private:
  Sizes shape_;
  size_t rows_ = 0;
  std::byte* data_ = nullptr;
};

Tensor indices(Sizes shape, std::vector<int64_t> values) { return Tensor::of_i64(std::move(shape), values); }

/// Rows of two sequences go to pages that a table of data names.
TEST(PartialWrites, ScatterNDWritesRowsOfPages) {
  auto s = stepper(
      "graph(x: f32[n,2,1024], at: i64[n,2,3], pool: f32[8,2,4,1024]) { now = ScatterND(pool, at, x) state pool(pool) = now "
      "return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages pool(*s->context, 0, {8, 2, 4, 1024});
  const std::vector<std::array<int64_t, 2>> steps[] = {{{5, 3}}, {{0, 0}, {7, 3}}, {{6, 1}, {1, 2}}, {{5, 2}}};
  for (const auto& step : steps) {
    std::vector<int64_t> at, rows;
    for (const auto& [page, row] : step)
      for (int64_t head = 0; head < 2; ++head) {
        at.insert(at.end(), {page, head, row});
        rows.push_back((page * 2 + head) * 4 + row);
      }
    pool.allow(rows);
    const auto n = static_cast<int64_t>(step.size());
    const Tensor x = random({n, 2, 1024}, static_cast<uint64_t>(rows[0]));
    EXPECT_STEP(*s, x, indices({n, 2, 3}, at));
    for (size_t k = 0; k < rows.size(); ++k) EXPECT_EQ(std::memcmp(pool.row(rows[k]), x.data() + k * kPage, kPage), 0);
  }
}

/// A prompt, a chunk and a single token in one run: only their rows of K and V are written.
TEST(PartialWrites, GPTAttentionWritesRowsOfItsSequences) {
  auto s = stepper(
      "graph(x: f32[1,n,4096], counts: i64[2], had: i64[2], cache: f32[2,2,1,8,1024]) { y, now = tenon::GPTAttention(x, counts, cache, _, had, "
      "num_heads=2, num_kv_heads=1, head_size=1024, packed=1, position_embedding_type=2, rotary_embedding_dim=2) "
      "state cache(cache) = now return y, now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {2, 2, 1, 8, 1024});
  Sizes had{0, 0};
  for (const auto& [first, second] : {std::pair{3, 1}, {1, 4}, {1, 0}, {2, 2}}) {
    std::vector<int64_t> rows;
    for (int64_t half = 0; half < 2; ++half) {
      for (int64_t k = 0; k < first; ++k) rows.push_back(half * 8 + had[0] + k);
      for (int64_t k = 0; k < second; ++k) rows.push_back((2 + half) * 8 + had[1] + k);
    }
    cache.allow(rows);
    const Sizes counts{first, second};
    EXPECT_STEP(*s, random({1, first + second, 4096}, static_cast<uint64_t>(rows[0])), indices({2}, counts), indices({2}, had));
    had = {had[0] + first, had[1] + second};
  }
  const Sizes counts{2, 1};
  const auto full = s->context->run(std::vector{random({1, 3, 4096}, 1), indices({2}, counts), indices({2}, had)});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::index_out_of_range) << full.error().text();
  EXPECT_TRUE(full.error().text().contains("node 'now'")) << full.error().text();
}

/// Each sequence of a batch has a past length of its own, which is data.
TEST(PartialWrites, TensorScatterWritesAtALengthPerSequence) {
  auto s = stepper(
      "graph(x: f32[3,2,1,1024], lengths: i64[3], cache: f32[3,2,8,1024]) { now = TensorScatter(cache, x, lengths) "
      "state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {3, 2, 8, 1024});
  std::vector<int64_t> lengths{0, 5, 2};
  for (uint64_t k = 0; k < 3; ++k) {
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t h = 0; h < 2; ++h) rows.push_back((b * 2 + h) * 8 + lengths[static_cast<size_t>(b)]);
    cache.allow(rows);
    EXPECT_STEP(*s, random({3, 2, 1, 1024}, k), indices({3}, lengths));
    for (int64_t& length : lengths) ++length;
  }
}

TEST(PartialWrites, ScatterElementsWritesItsRows) {
  auto s = stepper(
      "graph(x: f32[2,1024], at: i64[2,1024], cache: f32[16,1024]) { now = ScatterElements(cache, at, x, axis=0) "
      "state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {16, 1024});
  for (const int64_t row : {3, 15}) {
    std::vector<int64_t> at(2048, 0);
    std::fill(at.begin() + 1024, at.end(), row);
    cache.allow({0, row});
    EXPECT_STEP(*s, random({2, 1024}, static_cast<uint64_t>(row)), indices({2, 1024}, at));
  }
}

/// Sums go to the rows that they change.
TEST(PartialWrites, ScatteredSumsWriteTheirRows) {
  auto s = stepper(
      "graph(x: f32[2,1024], at: i64[2,1], cache: f32[16,1024]) { now = ScatterND(cache, at, x, reduction=\"add\") "
      "state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {16, 1024});
  for (const int64_t row : {3, 9, 3}) {
    cache.allow({0, row});
    EXPECT_STEP(*s, random({2, 1024}, static_cast<uint64_t>(row)), indices({2, 1}, {0, row}));
  }
}

/// Keys and values in one state: two scatters, of which the second replaces what the first one made.
TEST(PartialWrites, ChainsOfScattersWriteTheirRows) {
  auto s = stepper(
      "graph(k: f32[1,2,1024], v: f32[1,2,1024], ak: i64[1,3], av: i64[1,3], cache: f32[2,4,8,2,1024]) { "
      "a = ScatterND(cache, ak, k) now = ScatterND(a, av, v) state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {2, 4, 8, 2, 1024});
  for (int64_t t = 0; t < 3; ++t) {
    const int64_t key = ((0 * 4 + t) * 8 + 2 * t) * 2, value = ((1 * 4 + t) * 8 + 2 * t) * 2;
    cache.allow({key, key + 1, value, value + 1});
    EXPECT_STEP(*s, random({1, 2, 1024}, 1), random({1, 2, 1024}, 2), indices({1, 3}, {0, t, 2 * t}), indices({1, 3}, {1, t, 2 * t}));
  }
}

/// Three operands: both of the later ones append.
TEST(PartialWrites, ConcatOfSeveralAppendsWritesNewRows) {
  auto s = stepper(
      "graph(x: f32[n,1024], z: f32[1,1024], past: f32[p,1024]) { now = Concat(past, x, z, axis=0) "
      "state past(past) = now grows 0 to 16 return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  BoundPages cache(*s->context, 0, {16, 1024});
  for (int64_t at = 0; at < 15; at += 3) {
    cache.allow({at, at + 1, at + 2});
    EXPECT_STEP(*s, random({2, 1024}, 1), random({1, 1024}, 2));
  }
}

/// What each form costs: docs/states.md.
TEST(PartialWrites, OtherFormsGoThroughABuffer) {
  struct Form {
    const char* what;
    const char* text;
    std::vector<Tensor> inputs;
  };
  const Form forms[] = {
      {"sliding window",
       "graph(x: f32[1,4], past: f32[6,4]) { const a: i64[1] = [1] const b: i64[1] = [7] const d: i64[1] = [0] all = Concat(past, x, axis=0) "
       "now = Slice(all, a, b, d) y = ReduceSum(now) state past(past) = now return y, now }",
       {random({1, 4}, 1)}},
      {"window that grows",
       "graph(x: f32[n,4], past: f32[p,4]) { const a: i64[1] = [-6] const b: i64[1] = [9999] const d: i64[1] = [0] "
       "all = Concat(past, x, axis=0) now = Slice(all, a, b, d) y = ReduceSum(now) state past(past) = now grows 0 to 6 return y, now }",
       {random({2, 4}, 1)}},
      {"beams in another order",
       "graph(x: f32[3,1,4], order: i64[3], past: f32[3,p,4]) { kept = Gather(past, order, axis=0) now = Concat(kept, x, axis=1) "
       "y = ReduceSum(now) state past(past) = now grows 1 to 16 return y, now }",
       {random({3, 1, 4}, 1), indices({3}, {2, 0, 0})}},
      {"rows before the old ones",
       "graph(x: f32[1,4], past: f32[p,4]) { now = Concat(x, past, axis=0) y = ReduceSum(now) state past(past) = now grows 0 to 9 return y, now }",
       {random({1, 4}, 1)}},
      {"append, then overwrite",
       "graph(x: f32[1,4], at: i64[1,1], past: f32[p,4]) { all = Concat(past, x, axis=0) now = ScatterND(all, at, x) "
       "state past(past) = now grows 0 to 9 return now }",
       {random({1, 4}, 1), indices({1, 1}, {0})}},
  };
  for (const Form& form : forms) {
    SCOPED_TRACE(form.what);
    auto s = stepper(form.text, plain());
    ASSERT_TRUE(s) << s.error().text();
    for (int k = 0; k < 6; ++k) EXPECT_EQ(s->step(form.inputs), "");
    EXPECT_GT(s->context->arena_bytes(), 0u) << "rows go through memory beside the state";
  }
}

}  // namespace
}  // namespace tenon::compiler
