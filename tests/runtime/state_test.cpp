// SPDX-License-Identifier: Apache-2.0
// Runs that read and replace states.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "runtime/run/states.h"
#include "state_programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

std::vector<float> floats(const Tensor& t) { return {t.as<float>().begin(), t.as<float>().end()}; }

/// f32[2,n,3]: rows `first` to first + n - 1; row r of outer o is 100 * o + r, three times.
std::vector<float> rows(int64_t first, int64_t n) {
  std::vector<float> out;
  for (int64_t o = 0; o < kOuter; ++o)
    for (int64_t r = first; r < first + n; ++r) out.insert(out.end(), kInner, static_cast<float>(100 * o + r));
  return out;
}

struct StateTest : testing::Test {
  explicit StateTest(ProgramTable table = state_table()) : engine(state_engine(std::move(table))), context(*Context::create(engine)) {}

  Result<std::span<const Tensor>> append(int64_t first, int64_t n, const RunOptions& options = {}) {
    return context->run(std::vector{Tensor::of_f32({kOuter, n, kInner}, rows(first, n))}, options);
  }
  void expect_append(int64_t first, int64_t n, const RunOptions& options = {}) {
    const auto got = append(first, n, options);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ((*got)[0].shape(), (Sizes{kOuter, first + n, kInner}));
    EXPECT_EQ(floats((*got)[0]), rows(0, first + n));
    EXPECT_EQ(context->length(0), first + n);
  }
  void expect_rows(int64_t n) {
    const auto got = context->run({}, {}, 1);
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats((*got)[0]), rows(0, n));
  }
  std::vector<float> count() const { return floats(*context->state_value(1)); }

  std::shared_ptr<Engine> engine;
  std::unique_ptr<Context> context;
};

TEST_F(StateTest, EntriesReadWhatEarlierRunsWrote) {
  expect_rows(0);
  expect_append(0, 1);
  expect_append(1, 2);
  expect_rows(3);
  expect_append(3, 1);
  expect_rows(4);
  EXPECT_EQ(count(), (std::vector<float>{3, 3}));
}

TEST_F(StateTest, AppendsPlanOncePerShape) {
  for (int round = 0; round < 50; ++round) {
    for (int64_t k = 0; k < kCapacity; ++k) expect_append(k, 1);
    context->reset(0);
  }
  EXPECT_EQ(context->plans_made(), 1u);
  expect_append(0, 2);
  EXPECT_EQ(context->plans_made(), 2u);
}

/// The result keeps its place, which has room for the capacity.
TEST_F(StateTest, ResultsKeepTheirPlaceWhileStatesGrow) {
  const auto first = append(0, 1);
  ASSERT_TRUE(first);
  const std::byte* const place = (*first)[0].data();
  const uint64_t bytes = context->arena_bytes();
  EXPECT_GE(bytes, static_cast<uint64_t>(kOuter * kCapacity * kInner) * sizeof(float));
  expect_append(1, 1);
  expect_append(2, 1);
  const auto last = append(3, 1);
  ASSERT_TRUE(last);
  EXPECT_EQ((*last)[0].data(), place);
  EXPECT_EQ(context->arena_bytes(), bytes);
}

TEST_F(StateTest, AppendOverCapacityChangesNothing) {
  expect_append(0, 3);
  for (int round = 0; round < 2; ++round) {
    const auto got = append(3, 2);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Code::bad_input);
    EXPECT_EQ(got.error()->place, "state 'rows'");
    EXPECT_EQ(got.error()->expected, "0 .. 4");
    EXPECT_EQ(got.error()->found, "5, from 3");
    EXPECT_NE(got.error()->advice.find("reset"), std::string::npos);
  }
  EXPECT_EQ(count(), (std::vector<float>{1, 1}));
  expect_rows(3);
  expect_append(3, 1);
}

/// Stops after that step.
RunOptions stopping_after(uint32_t last, StopToken& token) {
  RunOptions options;
  options.token = &token;
  options.on_step = [&token, last](uint32_t step, auto, auto) { token.stop = step == last; };
  return options;
}

TEST_F(StateTest, CancelledRunKeepsLengthsAndCopiedStates) {
  expect_append(0, 2);
  for (uint32_t last = 0; last < 4; ++last) {
    StopToken token;
    const auto got = append(2, 2, stopping_after(last, token));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Code::cancelled);
    EXPECT_EQ(context->length(0), 2);
    EXPECT_EQ(count(), (std::vector<float>{1, 1}));
  }
  expect_rows(2);
  expect_append(2, 2);
}

TEST_F(StateTest, GuardsAndThreadCountsChangeNoResult) {
  for (const int threads : {1, 2, 4})
    for (const bool check_memory : {false, true}) {
      RunOptions options;
      options.threads = threads;
      options.check_memory = check_memory;
      context->reset();
      for (int64_t k = 0; k < kCapacity; ++k) expect_append(k, 1, options);
      EXPECT_EQ(count(), (std::vector<float>{4, 4}));
    }
}

TEST_F(StateTest, ResetGivesInitialValues) {
  expect_append(0, 2);
  context->reset(1);
  EXPECT_EQ(count(), (std::vector<float>{0, 0}));
  expect_rows(2);
  context->reset();
  expect_rows(0);
  expect_append(0, 1);
}

TEST_F(StateTest, TruncatedStateIsOverwritten) {
  expect_append(0, 4);
  ASSERT_TRUE(context->set_length(0, 1));
  expect_rows(1);
  expect_append(1, 2);
  EXPECT_EQ(context->set_length(0, 4).error().code(), Code::bad_input);
  EXPECT_EQ(context->set_length(0, -1).error().code(), Code::bad_input);
  EXPECT_EQ(context->set_length(1, 0).error().code(), Code::bad_usage);
  EXPECT_EQ(context->length(0), 3);
}

TEST_F(StateTest, ForksAreIndependent) {
  expect_append(0, 2);
  const auto fork = context->fork();
  ASSERT_TRUE(fork) << fork.error().text();
  expect_append(2, 1);
  EXPECT_EQ((*fork)->length(0), 2);
  EXPECT_EQ(floats(*(*fork)->state_value(0)), rows(0, 2));
  std::swap(context, const_cast<std::unique_ptr<Context>&>(*fork));
  expect_append(2, 2);
  EXPECT_EQ(count(), (std::vector<float>{2, 2}));
  std::swap(context, const_cast<std::unique_ptr<Context>&>(*fork));
  expect_rows(3);
}

TEST_F(StateTest, StatesAreFoundByName) {
  EXPECT_EQ(engine->state("count"), 1u);
  const auto refused = engine->state("row");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::bad_usage);
  EXPECT_EQ(refused.error()->expected, "rows, count");
  EXPECT_NE(refused.error()->advice.find("'rows'"), std::string::npos);
  EXPECT_EQ(small_engine()->state("x").error()->expected, "no name: it has no states");
}

/// `count` is written in place: its new value is an alias of the old one.
ProgramTable in_place_table() {
  ProgramTable table = state_table();
  Program& p = table[0];
  p.buffers[5] = buffer(BufferInfo::Kind::alias, DType::f32, {3}, 4, "plus");
  p.steps[3] = kernel_step({.kernel = 3, .tasks = 3, .grain = 5}, {5}, {}, "Count");
  p.steps[3].lines = 6;
  p.steps.push_back(kernel_step({.kernel = 4, .tasks = 5, .grain = 5}, {}, {}, "Nothing"));
  p.steps[4].lines = 6;
  return table;
}

void count_in_place(const KernelArgs* args, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; ++k) static_cast<float*>(args->buffers[0])[k] += 1;
}
void do_nothing(const KernelArgs*, int64_t, int64_t) {}

struct InPlaceTest : StateTest {
  InPlaceTest() {
    ProgramTable table = in_place_table();
    EXPECT_TRUE(decode(encode(table)));
    EngineParts parts;
    parts.programs = std::move(table);
    for (const KernelFunction f : {append_rows, read_rows, copy_rows, count_in_place, do_nothing}) add_kernel(parts, f);
    engine = *Engine::create(std::move(parts), test_devices());
    context = *Context::create(engine);
  }
};

TEST_F(InPlaceTest, CounterIsUpdatedWithoutACopy) {
  for (int64_t k = 0; k < kCapacity; ++k) expect_append(k, 1);
  EXPECT_EQ(count(), (std::vector<float>{4, 4}));
}

TEST_F(InPlaceTest, FailedRunLeavesStateInvalidUntilReset) {
  expect_append(0, 1);
  StopToken token;
  ASSERT_FALSE(append(1, 1, stopping_after(3, token)));
  for (int round = 0; round < 2; ++round) {
    const auto got = append(1, 1);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code(), Code::bad_input);
    EXPECT_EQ(got.error()->place, "state 'count'");
  }
  EXPECT_EQ(context->state_value(1).error().code(), Code::bad_input);
  EXPECT_EQ(context->fork().error().code(), Code::bad_input);
  EXPECT_EQ(context->save_states().error().code(), Code::bad_input);
  expect_rows(1);
  context->reset(1);
  expect_append(1, 1);
  EXPECT_EQ(count(), (std::vector<float>{1, 1}));
}

TEST_F(InPlaceTest, RestoreMakesAStateValidAgain) {
  expect_append(0, 1);
  const std::string saved = *context->save_states();
  StopToken token;
  ASSERT_FALSE(append(1, 1, stopping_after(3, token)));
  ASSERT_TRUE(context->restore_states(saved));
  expect_append(1, 1);
  EXPECT_EQ(count(), (std::vector<float>{2, 2}));
}

TEST_F(InPlaceTest, RunRefusedBeforeItsFirstStepLeavesStateValid) {
  expect_append(0, 4);
  ASSERT_FALSE(append(4, 1));
  StopToken token;
  token.stop = true;
  RunOptions options;
  options.token = &token;
  context->reset(0);
  ASSERT_FALSE(append(0, 1, options));
  expect_append(0, 1);
  EXPECT_EQ(count(), (std::vector<float>{2, 2}));
}

/// The value of `count` after a reset lies in the weights.
TEST(States, CapacityBeyondMemoryIsAnErrorOfTheState) {
  ProgramTable table = state_table();
  table.states[0].shape[1] = (int64_t{1} << 45) / (kOuter * kInner);  // 2^47 bytes: all addresses that there are
  const auto context = *Context::create(state_engine(std::move(table)));
  const auto refused = context->run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, rows(0, 1))});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::out_of_memory);
  EXPECT_EQ(refused.error()->place, "state 'rows'");
  EXPECT_TRUE(refused.error()->advice.contains("capacity"));
}

TEST(States, StartAtTheirInitialValue) {
  static const float kWeights[2 + kSlack / sizeof(float)] = {5, 7};
  EngineParts parts;
  parts.programs = state_table();
  parts.programs.states[1].initial = 0;
  parts.programs.weight_bytes = 2 * sizeof(float);
  parts.weights = std::as_bytes(std::span(kWeights));
  for (const KernelFunction f : {append_rows, read_rows, copy_rows}) add_kernel(parts, f);
  const auto context = *Context::create(*Engine::create(std::move(parts), test_devices()));
  EXPECT_EQ(floats(*context->state_value(1)), (std::vector<float>{5, 7}));
  ASSERT_TRUE(context->run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, rows(0, 1))}));
  EXPECT_EQ(floats(*context->state_value(1)), (std::vector<float>{6, 8}));
  context->reset();
  EXPECT_EQ(floats(*context->state_value(1)), (std::vector<float>{5, 7}));
}

/// The arena buffer has 7 - length rows: more than at the capacity, in all but the last run.
TEST(States, ThatShrinkGetALayoutOfTheirOwn) {
  ProgramTable table = state_table();
  Program& p = table[0];
  p.sizes.push_back({SizeLine::Kind::constant, -1, 0, 0, 0});
  p.sizes.push_back({SizeLine::Kind::multiply, 0, 6, 1, 0});
  p.sizes.push_back({SizeLine::Kind::constant, 7, 0, 0, 0});
  p.sizes.push_back({SizeLine::Kind::add, 0, 7, 8, 0});
  p.input_lines = 10;
  for (Step& s : p.steps) s.lines = 10;
  p.buffers[6].shape = {3, 9, 4};
  ASSERT_TRUE(decode(encode(table)));
  const auto context = *Context::create(state_engine(table));
  std::vector<uint64_t> bytes;
  for (int64_t k = 0; k < kCapacity; ++k) {
    ASSERT_TRUE(context->run(std::vector{Tensor::of_f32({kOuter, 1, kInner}, rows(k, 1))}));
    bytes.push_back(context->arena_bytes());
  }
  EXPECT_GE(bytes[0], static_cast<uint64_t>(kOuter * 7 * kInner) * sizeof(float));
  EXPECT_EQ(bytes[3], bytes[0]) << "there is room";
  EXPECT_EQ(context->plans_made(), 2u);
}

TEST(States, RunsRefuseInputsThatDoNotFitEachOther) {
  ProgramTable table = state_table();
  table[0].inputs[0].shape[2] = 0;  // x: f32[2,n,n]
  ASSERT_TRUE(decode(encode(table)));
  const auto context = *Context::create(state_engine(table));
  const auto got = context->run(std::vector{*Tensor::make(DType::f32, {kOuter, 1, kInner})});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::bad_input);
  EXPECT_EQ(context->length(0), 0);
}

TEST(States, PlannedBytesAreThoseOfTheCapacity) {
  const ProgramTable table = state_table();
  const std::vector<Sizes> shapes = {{kOuter, 1, kInner}};
  const auto planned = planned_bytes(table, shapes);
  ASSERT_TRUE(planned);
  EXPECT_GE(planned->values, static_cast<uint64_t>(kOuter * kCapacity * kInner) * sizeof(float));
}

/// A huge page that a first row touched would be cleared, and stay in memory, as a whole. Fails only where the system has such pages.
TEST(States, ThatGrowTakeTheMemoryOfTheirRows) {
  constexpr int64_t kHeads = 32, kHead = int64_t{2} << 20;  // bytes
  const std::vector<StateInfo> infos{{.name = "rows", .shape = {kHeads, kHead / 512, 128}, .growing_axis = 1}};
  States states(infos, nullptr);
  ASSERT_TRUE(states.prepare(0));
  std::byte* const memory = states.data(0);
  for (int64_t head = 0; head < kHeads; ++head) memory[head * kHead] = std::byte{1};
  std::vector<unsigned char> pages(kHeads * kHead / 4096);
  ASSERT_EQ(mincore(memory, kHeads * kHead, pages.data()), 0);
  EXPECT_EQ(std::ranges::count_if(pages, [](unsigned char p) { return (p & 1) != 0; }), kHeads);
}

}  // namespace
}  // namespace tenon::tests
