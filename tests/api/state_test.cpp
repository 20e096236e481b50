// SPDX-License-Identifier: Apache-2.0
// Entries and states, on an engine that the program state_engine writes.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace {

std::filesystem::path in_folder(const char* name) { return std::filesystem::path(testing::TempDir()) / name; }

tenon::Engine state_engine() {
  const auto path = in_folder("states.tenon");
  const std::string words = std::string(TENON_STATE_ENGINE) + " '" + path.string() + "'";
  EXPECT_EQ(std::system(words.c_str()), 0) << words;
  auto loaded = tenon::Engine::load(path, {.verify = true});
  EXPECT_TRUE(loaded) << loaded.error().text();
  return *loaded;
}

std::vector<float> floats(const tenon::Array& a) { return {a.as<float>().begin(), a.as<float>().end()}; }

struct ApiStates : testing::Test {
  static tenon::Engine engine() {
    static const tenon::Engine made = state_engine();
    return made;
  }
  tenon::Result<std::vector<float>> append(float value) {
    const std::vector<float> x{value, -value};
    const auto got = context.run({{"x", tenon::Array({1, 2}, x)}});
    if (!got) return std::unexpected(got.error());
    return floats(got->at("seen"));
  }
  std::vector<float> peek() {
    const auto got = context.run("peek", {});
    EXPECT_TRUE(got) << got.error().text();
    return floats((*got)[0]);
  }
  std::vector<float> power() { return floats(*context.state("power")); }

  tenon::Context context = *tenon::Context::create(engine());
};

TEST_F(ApiStates, EngineListsEntriesAndStates) {
  const auto e = engine();
  ASSERT_EQ(e.entries().size(), 2u);
  EXPECT_EQ(e.entries()[0].name, "append");
  EXPECT_EQ(e.entries()[1].name, "peek");
  EXPECT_TRUE(e.entries()[1].inputs.empty());
  EXPECT_EQ(e.entries()[1].outputs[0].dimensions[0], "past");
  EXPECT_EQ(e.inputs()[0].name, "x");
  EXPECT_EQ(e.entry("peek"), 1u);
  EXPECT_EQ(e.entry(""), 0u);
  ASSERT_EQ(e.states().size(), 2u);
  EXPECT_EQ(e.states()[0].name, "rows");
  EXPECT_EQ(e.states()[0].shape, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(e.states()[0].growing_axis, 0u);
  EXPECT_FALSE(e.states()[1].growing_axis);
}

TEST_F(ApiStates, RunsOfAContextContinueEachOther) {
  EXPECT_EQ(append(1), (std::vector<float>{1, -1}));
  EXPECT_EQ(append(2), (std::vector<float>{1, -1, 2, -2}));
  EXPECT_EQ(peek(), (std::vector<float>{1, -1, 2, -2}));
  EXPECT_EQ(power(), (std::vector<float>{4, 4}));
  EXPECT_EQ(context.length("rows"), 2);
}

TEST_F(ApiStates, RunsOfAnEngineBeginAtInitialValues) {
  const std::vector<float> x{1, -1};
  for (int round = 0; round < 3; ++round) {
    const auto got = engine().run({{"x", tenon::Array({1, 2}, x)}});
    ASSERT_TRUE(got) << got.error().text();
    EXPECT_EQ(floats(got->at("seen")), x);
  }
  const auto none = engine().run(tenon::Arrays(), tenon::RunOptions{.entry = "peek"});
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_EQ(none->at("rows").shape(), (std::vector<int64_t>{0, 2}));
}

TEST_F(ApiStates, ResultsGoIntoMemoryOfTheCallers) {
  float seen[4] = {};
  const std::vector<float> x{7, 8, 9, 10};
  const auto got = context.run({{"x", tenon::Array({2, 2}, x)}},
                               {{"seen", {.dtype = tenon::DType::f32, .shape = {2, 2}, .data = seen, .bytes = sizeof seen}}});
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(seen[3], 10);
  float rows[4] = {};
  ASSERT_TRUE(context.bind_output(0, rows, sizeof rows, "peek"));
  EXPECT_EQ(peek(), x);
  EXPECT_EQ(rows[0], 7);
  EXPECT_EQ(context.bind_output(1, rows, sizeof rows, "peek").error().code, tenon::Code::index_out_of_range);
}

TEST_F(ApiStates, OverCapacityIsRefusedAndChangesNothing) {
  for (int k = 0; k < 4; ++k) ASSERT_TRUE(append(1));
  const auto got = append(1);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, tenon::Code::bad_input);
  EXPECT_EQ(got.error().place, "state 'rows'");
  EXPECT_EQ(got.error().expected, "0 .. 4");
  EXPECT_EQ(power(), (std::vector<float>{16, 16}));
  ASSERT_TRUE(context.set_length("rows", 3));
  EXPECT_TRUE(append(1));
  context.reset();
  EXPECT_EQ(power(), (std::vector<float>{1, 1}));
  EXPECT_TRUE(peek().empty());
}

TEST_F(ApiStates, BoundMemoryHoldsTheState) {
  float rows[8] = {5, 6};
  const tenon::OutputBuffer memory{.dtype = tenon::DType::f32, .shape = {4, 2}, .data = rows, .bytes = sizeof rows};
  ASSERT_TRUE(context.bind_state("rows", memory, 1));
  EXPECT_EQ(append(7), (std::vector<float>{5, 6, 7, -7}));
  EXPECT_EQ(rows[3], -7);
  EXPECT_EQ(context.bind_state("rows", memory).error().code, tenon::Code::bad_usage) << "twice";
  EXPECT_EQ(context.bind_state("power", {.dtype = tenon::DType::f32, .shape = {2}, .data = rows + 6, .bytes = 8}).error().code,
            tenon::Code::bad_usage)
      << "memory of another state";
  ASSERT_TRUE(context.unbind_state("rows"));
  EXPECT_TRUE(peek().empty());
}

TEST_F(ApiStates, WrongMemoryIsRefused) {
  float rows[8] = {};
  const auto refused = [&](tenon::OutputBuffer memory, int64_t length = 0) {
    const auto bound = context.bind_state("rows", memory, length);
    return bound ? tenon::Code::internal : bound.error().code;
  };
  const tenon::OutputBuffer good{.dtype = tenon::DType::f32, .shape = {4, 2}, .data = rows, .bytes = sizeof rows};
  auto wrong = good;
  wrong.dtype = tenon::DType::i32;
  EXPECT_EQ(refused(wrong), tenon::Code::bad_input);
  wrong = good;
  wrong.shape = {2, 4};
  EXPECT_EQ(refused(wrong), tenon::Code::bad_input);
  wrong = good;
  wrong.bytes -= 4;
  EXPECT_EQ(refused(wrong), tenon::Code::bad_input);
  wrong = good;
  wrong.data = nullptr;
  EXPECT_EQ(refused(wrong), tenon::Code::bad_input);
  wrong = good;
  wrong.dtype = tenon::DType::string;
  EXPECT_EQ(refused(wrong), tenon::Code::bad_input);
  EXPECT_EQ(refused(good, 5), tenon::Code::bad_input);
  EXPECT_TRUE(append(1));
}

TEST_F(ApiStates, NamesThatAreNotThereGetTheNearest) {
  const auto state = context.reset("row");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, tenon::Code::bad_usage);
  EXPECT_EQ(state.error().expected, "rows, power");
  EXPECT_NE(state.error().advice.find("'rows'"), std::string::npos);
  EXPECT_FALSE(context.length("nothing"));
  EXPECT_EQ(context.length("power").error().code, tenon::Code::bad_usage);
  const auto entry = context.run("peak", {});
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, tenon::Code::bad_usage);
  EXPECT_NE(entry.error().advice.find("'peek'"), std::string::npos);
  EXPECT_EQ(engine().run(tenon::Arrays(), tenon::RunOptions{.entry = "peak"}).error().code, tenon::Code::bad_usage);
}

TEST_F(ApiStates, ForkGoesItsOwnWay) {
  ASSERT_TRUE(append(1));
  auto fork = context.fork();
  ASSERT_TRUE(fork) << fork.error().text();
  ASSERT_TRUE(append(2));
  EXPECT_EQ(fork->length("rows"), 1);
  std::swap(context, *fork);
  EXPECT_EQ(append(3), (std::vector<float>{1, -1, 3, -3}));
  EXPECT_EQ(fork->length("rows"), 2);
}

TEST_F(ApiStates, SavedStatesAreRestored) {
  ASSERT_TRUE(append(1));
  ASSERT_TRUE(append(2));
  const auto path = in_folder("states.saved");
  ASSERT_TRUE(context.save(path));
  const auto bytes = *context.bytes();
  context.reset();
  ASSERT_TRUE(context.restore(path));
  EXPECT_EQ(peek(), (std::vector<float>{1, -1, 2, -2}));
  auto other = *tenon::Context::create(state_engine());
  ASSERT_TRUE(other.restore(bytes));
  EXPECT_EQ(floats(*other.state("power")), (std::vector<float>{4, 4}));
}

TEST_F(ApiStates, DamagedOrForeignFilesChangeNothing) {
  ASSERT_TRUE(append(1));
  auto bytes = *context.bytes();
  ASSERT_TRUE(append(2));
  bytes[bytes.size() / 2] ^= std::byte{1};
  EXPECT_EQ(context.restore(bytes).error().code, tenon::Code::bad_file);
  const auto path = in_folder("no_states");
  std::ofstream(path) << "not states";
  EXPECT_EQ(context.restore(path).error().code, tenon::Code::bad_file);
  EXPECT_EQ(context.restore(in_folder("nowhere")).error().code, tenon::Code::file_missing);
  EXPECT_EQ(context.restore(in_folder("states.tenon")).error().code, tenon::Code::bad_file) << "an engine";
  EXPECT_EQ(context.save(in_folder("nowhere") / "states").error().code, tenon::Code::write_failed);
  EXPECT_EQ(peek(), (std::vector<float>{1, -1, 2, -2}));
}

}  // namespace
