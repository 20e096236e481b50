// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tenon/tenon.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

namespace {

const std::string kModel = std::string(TENON_TEST_DATA) + "/../../examples/mlp.onnx";

tenon::Engine engine() {
  auto made = tenon::compile(kModel);
  EXPECT_TRUE(made) << made.error().text();
  return *made;
}

std::vector<float> ramp(size_t rows) {
  std::vector<float> x(rows * 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1F * static_cast<float>(i % 17) - 0.5F;
  return x;
}

std::vector<float> answer(const tenon::Engine& e, int64_t rows) {
  const auto x = ramp(static_cast<size_t>(rows));
  auto results = e.run({{"x", tenon::Array({rows, 16}, x)}});
  EXPECT_TRUE(results) << results.error().text();
  const auto y = results->at("y").as<float>();
  return {y.begin(), y.end()};
}

std::filesystem::path file(const char* name) { return std::filesystem::path(testing::TempDir()) / name; }

TEST(Api, CompilesAndRuns) {
  const auto e = engine();
  ASSERT_EQ(e.inputs().size(), 1U);
  EXPECT_EQ(e.inputs()[0].name, "x");
  EXPECT_EQ(e.inputs()[0].dtype, tenon::DType::f32);
  const auto y = answer(e, 3);
  ASSERT_EQ(y.size(), 30U);
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum += y[static_cast<size_t>(i)];
  EXPECT_NEAR(sum, 1, 1e-5);  // a softmax
}

/// A message within a message, of fewer than 2^14 bytes.
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  if (bytes.size() > 127) out += static_cast<char>(bytes.size() % 128 | 128);
  return out + static_cast<char>(bytes.size() > 127 ? bytes.size() / 128 : bytes.size()) + bytes;
}

/// y = s with x after it; p = o.
std::string sequence_model() {
  const std::string tensor = field(1, "\x08\x01"), sequence = field(4, field(1, tensor)), optional = field(9, field(1, tensor));
  const auto port = [](const char* name, const std::string& type) { return field(1, name) + field(2, type); };
  const std::string insert = field(1, "s") + field(1, "x") + field(2, "y") + field(4, "SequenceInsert");
  const std::string pass = field(1, "o") + field(2, "p") + field(4, "Identity");
  return "\x08\x0a" +
         field(7, field(1, insert) + field(1, pass) + field(2, "g") + field(11, port("s", sequence)) + field(11, port("x", tensor)) +
                      field(11, port("o", optional)) + field(12, port("y", sequence)) + field(12, port("p", optional))) +
         field(8, "\x10\x12");
}

TEST(Api, TakesAndGivesSequencesAndOptionals) {
  const auto path = file("sequences.onnx");
  std::ofstream(path, std::ios::binary) << sequence_model();
  const auto e = tenon::compile(path, {.shapes = {{"x", {2}}}});
  ASSERT_TRUE(e) << e.error().text();
  EXPECT_EQ(e->inputs()[0].kind, tenon::ValueKind::sequence);
  EXPECT_EQ(e->inputs()[0].dimensions, std::vector<std::string>{"*"});
  EXPECT_EQ(e->inputs()[2].kind, tenon::ValueKind::optional);
  std::vector<float> a = {1, 2, 3}, b = {4, 5};
  const tenon::Array list = tenon::Array::sequence({tenon::Array({3}, a)}), x({2}, b);
  auto results = e->run({{"s", list}, {"x", x}, {"o", tenon::Array::optional(x)}});
  ASSERT_TRUE(results) << results.error().text();
  a[0] = b[0] = 9;  // results own their memory
  const auto& y = results->at("y");
  ASSERT_EQ(y.kind(), tenon::ValueKind::sequence);
  ASSERT_EQ(y.elements().size(), 2U);
  EXPECT_EQ(y.elements()[0].as<float>()[0], 1);
  EXPECT_EQ(y.elements()[1].shape(), std::vector<int64_t>{2});
  EXPECT_EQ(results->at("p").elements()[0].as<float>()[0], 4);
  results = e->run({{"s", tenon::Array::sequence({})}, {"x", x}, {"o", tenon::Array::optional()}});
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_TRUE(results->at("p").elements().empty());
  const auto refused = e->run({{"s", x}, {"x", x}, {"o", tenon::Array::optional()}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, tenon::Code::bad_input);
  EXPECT_EQ(refused.error().place, "input 's'");
}

TEST(Api, ASavedEngineAnswersTheSame) {
  const auto e = engine();
  for (const bool portable : {false, true}) {
    const auto path = file(portable ? "portable.tenon" : "native.tenon");
    const auto saved = e.save(path, portable);
    ASSERT_TRUE(saved) << saved.error().text();
    for (const bool verify : {false, true}) {
      const auto loaded = tenon::Engine::load(path, {.verify = verify});
      ASSERT_TRUE(loaded) << loaded.error().text();
      EXPECT_EQ(answer(*loaded, 5), answer(e, 5)) << "portable: " << portable;
    }
  }
}

TEST(Api, AnyChangedByteOfAPortableEngineIsFound) {
  const auto path = file("changed.tenon");
  ASSERT_TRUE(engine().save(path, true));
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  for (size_t at = 0; at < good.size(); at += 97) {
    std::string bad = good;
    bad[at] ^= 0x20;
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_FALSE(tenon::Engine::load(path)) << "byte " << at;
  }
}

TEST(Api, AnEngineFromAFileIsNotSavedAgain) {
  const auto path = file("once.tenon");
  ASSERT_TRUE(engine().save(path));
  const auto saved = tenon::Engine::load(path)->save(path);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, tenon::Code::bad_usage);
}

tenon::Error refused(const tenon::Engine& e, const tenon::Arrays& inputs) {
  const auto results = e.run(inputs);
  EXPECT_FALSE(results);
  return results ? tenon::Error{} : results.error();
}

TEST(Api, WrongInputsAreRefusedByName) {
  const auto e = engine();
  const auto x = ramp(2);
  const std::vector<double> wide(32);
  const tenon::Array good({2, 16}, x);
  EXPECT_EQ(refused(e, {}).place, "input 'x'");
  EXPECT_EQ(refused(e, {{"x", good}, {"z", good}}).place, "input 'z'");
  EXPECT_EQ(refused(e, {{"x", tenon::Array({2, 16}, wide)}}).found, "f64[2,16]");
  EXPECT_EQ(refused(e, {{"x", tenon::Array({4, 8}, x)}}).code, tenon::Code::bad_input);
  EXPECT_EQ(refused(e, {{"x", tenon::Array({32}, x)}}).code, tenon::Code::bad_input);
  EXPECT_EQ(refused(e, {{"x", tenon::Array({3, 16}, x)}}).found, "128 bytes");
  EXPECT_EQ(refused(e, {{"x", tenon::Array({-2, -16}, x)}}).code, tenon::Code::bad_input);
  EXPECT_EQ(refused(e, {{"x", tenon::Array()}}).code, tenon::Code::bad_input);
}

TEST(Api, FilesThatAreNotThereOrNoModelsAreErrors) {
  EXPECT_EQ(tenon::compile("nowhere.onnx").error().code, tenon::Code::file_missing);
  EXPECT_EQ(tenon::Engine::load("nowhere.tenon").error().code, tenon::Code::file_missing);
  EXPECT_EQ(tenon::Engine::load(kModel).error().code, tenon::Code::bad_file);
  EXPECT_EQ(tenon::compile(kModel, {.opt = 7}).error().code, tenon::Code::bad_usage);
  EXPECT_FALSE(tenon::compile(kModel, {.opt = 7}).error().text().empty());
}

TEST(Api, ResultsOwnTheirMemory) {
  std::vector<std::vector<tenon::Array>> kept;
  const auto x = ramp(2), other = std::vector<float>(32, 1.0F);
  const tenon::Array first({2, 16}, x), second({2, 16}, other);
  std::vector<float> expected;
  {
    const auto e = engine();
    expected = answer(e, 2);
    kept.push_back(*e.run({&first, 1}));
    kept.push_back(*e.run({&second, 1}));
  }
  const auto y = kept[0][0].as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), expected);
  EXPECT_NE(kept[1][0].as<float>()[0], y[0]);
}

TEST(Api, ThreadsShareAnEngine) {
  const auto e = engine();
  std::vector<std::vector<float>> expected;
  for (int64_t rows = 1; rows <= 4; ++rows) expected.push_back(answer(e, rows));
  std::vector<std::thread> threads;
  for (int64_t rows = 1; rows <= 4; ++rows)
    threads.emplace_back([&, rows] {
      for (int k = 0; k < 50; ++k) EXPECT_EQ(answer(e, rows), expected[static_cast<size_t>(rows - 1)]);
    });
  for (std::thread& t : threads) t.join();
}

TEST(Api, ContextWritesToGivenBuffers) {
  const auto e = engine();
  auto context = tenon::Context::create(e);
  ASSERT_TRUE(context);
  const auto x = ramp(3);
  const tenon::Array input({3, 16}, x);
  std::vector<float> y(30);
  ASSERT_TRUE(context->bind_output(0, y.data(), y.size() * sizeof(float)));
  EXPECT_EQ(context->bind_output(1, y.data(), 4).error().code, tenon::Code::index_out_of_range);
  auto results = context->run({&input, 1});
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ((*results)[0].data(), y.data());
  EXPECT_EQ(y, answer(e, 3));
  ASSERT_TRUE(context->bind_output(0, y.data(), 8));
  EXPECT_EQ(context->run({&input, 1}).error().code, tenon::Code::bad_input);
}

TEST(Api, ARunCanBeStopped) {
  const auto e = engine();
  const auto x = ramp(1);
  const tenon::Array input({1, 16}, x);
  tenon::StopToken token;
  token.stop();
  EXPECT_EQ(e.run({&input, 1}, {.stop = &token}).error().code, tenon::Code::cancelled);
  token.reset();
  EXPECT_TRUE(e.run({&input, 1}, {.stop = &token}));
  EXPECT_EQ(e.run({&input, 1}, {.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1)}).error().code,
            tenon::Code::deadline);
}

TEST(Api, RunReadsNothingPastAnInput) {
  const auto e = engine();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  for (int64_t rows = 1; rows <= 13; ++rows) {
    const auto x = ramp(static_cast<size_t>(rows));
    char* at = memory + page - x.size() * sizeof(float);
    std::memcpy(at, x.data(), x.size() * sizeof(float));
    const tenon::Array input(tenon::DType::f32, {rows, 16}, at, x.size() * sizeof(float));
    auto results = e.run({&input, 1});
    ASSERT_TRUE(results);
    const auto y = (*results)[0].as<float>();
    EXPECT_EQ(std::vector<float>(y.begin(), y.end()), answer(e, rows));
  }
  munmap(memory, 2 * page);
}

}  // namespace
