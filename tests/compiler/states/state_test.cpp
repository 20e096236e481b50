// SPDX-License-Identifier: Apache-2.0
// Models with states, step by step against the reference.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "states/stepper.h"

namespace tenon::compiler {
namespace {

TEST(States, WholeStateIsReplaced) {
  auto t = stepper("graph(x: f32[3,5], m: f32[3,5]) { n = Add(m, x) y = Softmax(n) state m(m) = n return y, n }");
  ASSERT_TRUE(t) << t.error().text();
  for (uint64_t k = 0; k < 4; ++k) EXPECT_STEP(*t, random({3, 5}, k));
  t->context->reset();
  t->reference.reset();
  EXPECT_STEP(*t, random({3, 5}, 9));
}

TEST(States, InitialValuesCount) {
  auto s = stepper("graph(x: f32[4], m: f32[4]) { n = Mul(m, x) state m(m) = n from [1, 2, 3, 4] return n as y, n }");
  ASSERT_TRUE(s) << s.error().text();
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({4}, k));
}

/// A reader of the old value far behind, which cannot move before the write.
TEST(States, LateReadersOfWholeStatesSeeTheOldValue) {
  auto s = stepper("graph(x: f32[4,4], m: f32[4,4]) { n = Add(m, x) p = MatMul(n, x) q = MatMul(p, m) state m(m) = n return q, n }");
  ASSERT_TRUE(s) << s.error().text();
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({4, 4}, k));
}

constexpr const char* kAppend =
    "graph(x: f32[1,2,n,4], past: f32[1,2,p,4]) { now = Concat(past, x, axis=2) t = Transpose(now, perm=[0,1,3,2]) "
    "s = MatMul(x, t) a = Softmax(s) y = MatMul(a, now) state past(past) = now grows 2 to 16 return y, now }";

TEST(States, AppendedRowsAreReadWithTheOldOnes) {
  auto s = stepper(kAppend);
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_STEP(*s, random({1, 2, 3, 4}, 1));
  for (uint64_t k = 0; k < 10; ++k) EXPECT_STEP(*s, random({1, 2, 1, 4}, k));
  EXPECT_EQ(s->context->plans_made(), 2u);
  const auto full = s->context->run(std::vector{random({1, 2, 4, 4}, 1)});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::bad_input) << full.error().text();
  EXPECT_STEP(*s, random({1, 2, 3, 4}, 1));
}

TEST(States, AppendsWithoutPassesAgree) {
  CompileOptions options = tests::compile_options(3);
  options.off = {"append_in_place", "write_in_place"};
  auto s = stepper(kAppend, options);
  ASSERT_TRUE(s) << s.error().text();
  for (uint64_t k = 0; k < 5; ++k) EXPECT_STEP(*s, random({1, 2, 2, 4}, k));
}

/// Reshapes of the new value count its elements, which a growing state has no numbers for.
TEST(States, ReshapedStatesAreCopied) {
  auto s = stepper(
      "graph(x: f32[2,n,4], past: f32[2,p,4]) { const two: i64[2] = [2, -1] const flat: i64[1] = [-1] now = Concat(past, x, axis=1) "
      "r = Reshape(now, two) y = Relu(r) q = Reshape(past, flat) z = Relu(q) state past(past) = now grows 1 to 8 return y, z, now, now as again }");
  ASSERT_TRUE(s) << s.error().text();
  for (uint64_t k = 0; k < 4; ++k) EXPECT_STEP(*s, random({2, 2, 4}, k));
}

TEST(States, TensorScatterWritesItsRows) {
  auto s = stepper(
      "graph(x: f32[1,2,1,4], at: i64[1], cache: f32[1,2,64,4]) { now = TensorScatter(cache, x, at) y = ReduceSum(now) "
      "state cache(cache) = now return y, now }");
  ASSERT_TRUE(s) << s.error().text();
  for (int64_t k = 0; k < 5; ++k) EXPECT_STEP(*s, random({1, 2, 1, 4}, static_cast<uint64_t>(k)), index(k));
}

/// What is bound holds a pattern that no run writes: of 4,096 rows one changes.
TEST(States, TensorScatterIntoABoundStateWritesOneRow) {
  auto s = stepper(
      "graph(x: f32[1,2,1,64], at: i64[1], cache: f32[1,2,4096,64]) { now = TensorScatter(cache, x, at) "
      "state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  for (const runtime::Step& step : s->engine->program().steps) EXPECT_NE(step.label, "Copy");
  Tensor memory = *Tensor::make(DType::f32, {1, 2, 4096, 64});
  std::memset(memory.mutable_data(), 0x7b, static_cast<size_t>(memory.byte_size()));
  std::vector<std::byte> before(memory.data(), memory.data() + memory.byte_size());
  ASSERT_TRUE(s->context->bind_state(0, memory));
  for (int64_t k = 0; k < 3; ++k) {
    const Tensor x = random({1, 2, 1, 64}, static_cast<uint64_t>(k));
    ASSERT_TRUE(s->context->run(std::vector{x, index(1000 * k)}));
    int64_t changed = 0;
    for (int64_t i = 0; i < memory.byte_size(); i += 4) changed += std::memcmp(memory.data() + i, before.data() + i, 4) != 0;
    EXPECT_EQ(changed, 2 * 64);
    std::copy_n(memory.data(), memory.byte_size(), before.data());
  }
  EXPECT_EQ(s->context->plans_made(), 1u);
}

/// All pages but those of the row are read-only: a run that wrote to another row would end the process.
TEST(States, TensorScatterLeavesOtherRowsUntouched) {
  auto s = stepper(
      "graph(x: f32[1,1,1,1024], at: i64[1], cache: f32[1,1,4096,1024]) { now = TensorScatter(cache, x, at) "
      "state cache(cache) = now return now }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  constexpr size_t kRow = 4096, kBytes = 4096 * kRow;
  void* const pages = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_TRUE(s->context->bind_state(0, Tensor::view(DType::f32, {1, 1, 4096, 1024}, pages, nullptr)));
  for (const int64_t at : {0, 17, 4095}) {
    std::byte* const row = static_cast<std::byte*>(pages) + static_cast<size_t>(at) * kRow;
    ASSERT_EQ(mprotect(pages, kBytes, PROT_READ), 0);
    ASSERT_EQ(mprotect(row, kRow, PROT_READ | PROT_WRITE), 0);
    const Tensor x = random({1, 1, 1, 1024}, static_cast<uint64_t>(at));
    ASSERT_TRUE(s->context->run(std::vector{x, index(at)}));
    EXPECT_EQ(std::memcmp(row, x.data(), kRow), 0);
  }
  s->context.reset();
  munmap(pages, kBytes);
}

TEST(States, EntriesShareStates) {
  const std::string read = "graph(past: f32[1,2,p,4]) { y = ReduceSum(past) state past(past) = past grows 2 to 16 return y, past }";
  auto s = stepper({{"append", kAppend}, {"read", read}});
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_STEP(*s, random({1, 2, 3, 4}, 1));
  EXPECT_EQ(s->step({}, 1), "");
  EXPECT_STEP(*s, random({1, 2, 2, 4}, 2));
  EXPECT_EQ(s->step({}, 1), "");
  EXPECT_EQ(s->engine->states().size(), 1u);
}

TEST(States, EntriesWithOtherStatesOfOneNameAreRefused) {
  std::string other = kAppend;
  other.replace(other.find("to 16"), 5, "to 32");
  const auto s = stepper({{"a", kAppend}, {"b", other}});
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().text().find("two entries have different states of this name"), std::string::npos) << s.error().text();
}

TEST(States, ReaderOfTheOldValueAfterAPartialWriteIsNamed) {
  const auto s = stepper(
      "graph(x: f32[1,2,1,4], at: i64[1], cache: f32[1,2,8,4]) { now = TensorScatter(cache, x, at) d = Sub(now, cache) @difference "
      "y = ReduceSum(d) state cache(cache) = now return y, now }",
      plain());
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().text().find("difference"), std::string::npos) << s.error().text();
}

TEST(States, EarlyReadersOfTheOldValueMoveBeforeTheWrite) {
  auto s = stepper(
      "graph(x: f32[1,2,1,4], at: i64[1], cache: f32[1,2,8,4]) { now = TensorScatter(cache, x, at) s = ReduceSum(now) o = ReduceMax(cache) "
      "state cache(cache) = now return s, o, now }");
  ASSERT_TRUE(s) << s.error().text();
  for (int64_t k = 0; k < 5; ++k) EXPECT_STEP(*s, random({1, 2, 1, 4}, static_cast<uint64_t>(k)), index(k));
}

/// Two states of one symbol: both grow together.
TEST(States, StatesOfOneLengthGrowTogether) {
  auto s = stepper(
      "graph(x: f32[n,4], k: f32[p,4], v: f32[p,4]) { a = Concat(k, x, axis=0) b = Concat(v, x, axis=0) y = Add(a, b) "
      "state k(k) = a grows 0 to 8 state v(v) = b grows 0 to 8 return y, a, b }");
  ASSERT_TRUE(s) << s.error().text();
  for (uint64_t k = 0; k < 3; ++k) EXPECT_STEP(*s, random({2, 4}, k));
  ASSERT_TRUE(s->context->set_length(1, 2));
  const auto apart = s->context->run(std::vector{random({1, 4}, 1)});
  ASSERT_FALSE(apart);
  EXPECT_NE(apart.error().text().find("state 'v'"), std::string::npos) << apart.error().text();
}

/// Keys and values of fixed capacity, of which data says how much counts.
std::string static_caches(const std::string& n) {
  return "graph(q: f32[1,2," + n + ",8], k: f32[1,2," + n + ",8], v: f32[1,2," + n +
         ",8], at: i64[1], ends: i64[1], keys: f32[1,2,64,8], values: f32[1,2,64,8]) { now_k = TensorScatter(keys, k, at) "
         "now_v = TensorScatter(values, v, at) y = Attention(q, now_k, now_v, _, _, _, ends, is_causal=1) state keys(keys) = now_k "
         "state values(values) = now_v return y, now_k, now_v }";
}

TEST(States, AttentionOverScatteredCachesDecodes) {
  auto s = stepper({{"prefill", static_caches("5")}, {"decode", static_caches("1")}}, plain());
  ASSERT_TRUE(s) << s.error().text();
  for (size_t entry = 0; entry < 2; ++entry)
    for (const runtime::StatePort& port : s->engine->program(entry).states)
      EXPECT_EQ(s->engine->program(entry).buffers[port.new_buffer].kind, runtime::BufferInfo::Kind::alias);
  for (int64_t at = 0; at < 30;) {
    const int64_t n = at == 0 ? 5 : 1;
    const auto seed = static_cast<uint64_t>(3 * at);
    const std::vector<Tensor> in{random({1, 2, n, 8}, seed), random({1, 2, n, 8}, seed + 1), random({1, 2, n, 8}, seed + 2), index(at),
                                 index(at + n)};
    EXPECT_EQ(s->step(in, at == 0 ? 0 : 1), "");
    at += n;
  }
  EXPECT_EQ(s->context->plans_made(), 2u);
}

TEST(States, AttentionWithPastAppendsInPlace) {
  auto s = stepper(
      "graph(q: f32[1,4,n,8], k: f32[1,2,n,8], v: f32[1,2,n,8], pk: f32[1,2,p,8], pv: f32[1,2,p,8]) { "
      "y, k2, v2 = Attention(q, k, v, _, pk, pv, is_causal=1) state pk(pk) = k2 grows 2 to 256 state pv(pv) = v2 grows 2 to 256 "
      "return y, k2, v2 }",
      plain());
  ASSERT_TRUE(s) << s.error().text();
  for (const runtime::StatePort& port : s->engine->program().states)
    EXPECT_EQ(s->engine->program().buffers[port.new_buffer].kind, runtime::BufferInfo::Kind::alias);
  for (int64_t k = 0; k < 201; ++k) {
    const int64_t n = k == 0 ? 7 : 1;
    const auto seed = static_cast<uint64_t>(3 * k);
    EXPECT_STEP(*s, random({1, 4, n, 8}, seed), random({1, 2, n, 8}, seed + 1), random({1, 2, n, 8}, seed + 2));
  }
  EXPECT_EQ(s->context->plans_made(), 2u);
}

}  // namespace
}  // namespace tenon::compiler
