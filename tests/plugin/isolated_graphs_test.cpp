// SPDX-License-Identifier: Apache-2.0
// Inner graphs of nodes in processes of their own, which this process runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "plugin/library.h"
#include "plugin/run/runner.h"
#include "plugin/worker/exchange.h"
#include "plugin/worker/remote_runner.h"

namespace tenon::plugin::worker {
namespace {

using namespace std::chrono_literals;

constexpr Isolation kShort{.call_timeout = 1s}, kLong{.call_timeout = 100s};

/// As many as wanted, of one operand and one result, which is the operand and one more.
class MadeGraphs final : public InnerGraphs {
 public:
  explicit MadeGraphs(uint32_t count = 1) : count_(count) {}
  uint32_t count() const override { return count_; }
  Ports ports(uint32_t) const override { return {1, 1}; }
  Result<void> run(uint32_t, std::span<const Tensor> operands, std::span<const Tensor> results) override {
    ++ran;
    x = operands[0].data();
    y = results[0].data();
    TRY(act());
    const auto from = operands[0].as<float>();
    const std::span to(reinterpret_cast<float*>(const_cast<std::byte*>(y)), from.size());
    std::ranges::transform(from, to.begin(), [](float value) { return value + 1; });
    return {};
  }
  std::function<Result<void>()> act = [] { return Result<void>(); };
  int ran = 0;
  const std::byte *x = nullptr, *y = nullptr;

 private:
  uint32_t count_;
};

Field text_field(const char* name, const std::string& text) {
  return {.name = name, .type = TENON_FIELD_CHAR, .length = static_cast<int64_t>(text.size()), .bytes = text};
}

std::shared_ptr<RemoteObject> object(const Isolation& isolation, const std::string& fault = "none", bool two = false) {
  static const auto library = *open_library(TENON_GRAPHS, {});
  const std::vector fields{text_field("text", "first"), text_field("more", two ? "second" : ""), text_field("fault", fault)};
  const auto op = std::ranges::find(library->ops, "Bare", &Op::name);
  return *RemoteObject::create(*op, *SharedProcess::of(library, isolation),
                               {.name = "node 'it'", .fields = fields, .operands = 1, .results = 1});
}

/// One node in one context. Its graphs are there first: the runner has them.
class Node {
 public:
  explicit Node(std::shared_ptr<RemoteObject> of, uint32_t count = 1)
      : graphs(count), runner(*RemoteRunner::make(std::move(of), {DType::f32}, {}, 0, &graphs)) {}
  explicit Node(const Isolation& isolation, const std::string& fault = "none") : Node(object(isolation, fault)) {}

  Result<std::vector<float>> run(int64_t size = 3, const RunResources& running = {}) {
    if (size != size_) {
      size_ = size;
      x_ = *Tensor::make(DType::f32, {size});
      y_ = *Tensor::make(DType::f32, {size});
      TRY(runner->set_shapes({&x_, 1}, {&y_, 1}, {true}));
    }
    const std::span x(reinterpret_cast<float*>(x_.mutable_data()), static_cast<size_t>(size));
    for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
    runner->point_operand(0, x_.mutable_data());
    runner->point_result(0, y_.mutable_data());
    TRY(runner->run(running));
    return std::vector(y_.as<float>().begin(), y_.as<float>().end());
  }
  void expect_right(int64_t size = 3, float more = 1) {
    const auto y = run(size);
    ASSERT_TRUE(y) << y.error().text();
    ASSERT_EQ(std::ssize(*y), size);
    for (size_t k = 0; k < y->size(); ++k) ASSERT_EQ((*y)[k], static_cast<float>(k) + more) << k;
  }
  Diagnostic failed(const RunResources& running = {}) {
    const auto y = run(3, running);
    EXPECT_FALSE(y);
    return y ? Diagnostic{} : *y.error();
  }

  MadeGraphs graphs;
  std::unique_ptr<NodeRunner> runner;

 private:
  int64_t size_ = -1;
  Tensor x_, y_;
};

TEST(IsolatedGraphs, RunInTheHost) {
  Node node(kLong);
  for (int64_t size : {3, 0, 100'000, 7}) node.expect_right(size);
  EXPECT_EQ(node.graphs.ran, 4);
  EXPECT_EQ(node.graphs.y, node.runner->kept_result(0)) << "the result is written where it stays";
  Node two(object(kLong, "none", true), 2);
  for (int64_t size : {3, 100'000, 0, 7}) two.expect_right(size, 2);
  Node own(kLong, "own memory");
  for (int64_t size : {7, 100'000, 0, 3}) own.expect_right(size);
  // Of the last run: a node's operand and result are copied here, and what its graphs have elsewhere.
  EXPECT_EQ(node.runner->copied_bytes(), (7 + 7) * 4);
  EXPECT_EQ(two.runner->copied_bytes(), (7 + 7) * 4 * 2);
  EXPECT_EQ(own.runner->copied_bytes(), (3 + 3) * 4 * 2);
}

TEST(IsolatedGraphs, ReadOperandsWhereTheyAre) {
  constexpr int64_t kMany = 10'000, kBytes = kMany * 4;
  Node node(kLong);
  const Tensor shape = *Tensor::make(DType::f32, {kMany});
  ASSERT_TRUE(node.runner->set_shapes({&shape, 1}, {&shape, 1}, {true}));
  const auto file = *SharedFile::make(0);
  const auto part = *SharedFile::part(file, kBytes);
  const SharedMemory shared(part.data(), part.bytes(), file->descriptor(), part.offset());
  node.runner->point_operand(0, part.data());
  node.runner->point_result(0, nullptr);
  ASSERT_TRUE(node.runner->run({}));
  EXPECT_EQ(node.graphs.x, part.data());
  EXPECT_EQ(node.runner->copied_bytes(), 0);
}

TEST(IsolatedGraphs, FailWithTheSameErrorsAsInProcess) {
  Node node(kLong);
  node.graphs.act = [] { return fail(Code::shape_mismatch, "there", "it does not fit").expected("this").found("that").advice("do so"); };
  const Diagnostic error = node.failed();
  EXPECT_EQ(error.code, Code::shape_mismatch);
  EXPECT_NE(error.place.find("node 'it', plugin 'test::Bare' of"), std::string::npos) << error.place;
  EXPECT_EQ(error.what, "its `enqueue` ran a graph that failed: inner graph 0, there: it does not fit");
  EXPECT_EQ((std::vector{error.expected, error.found, error.advice}), (std::vector<std::string>{"this", "that", "do so"}));
  node.graphs.act = [] { return Result<void>(); };
  node.expect_right();
}

TEST(IsolatedGraphs, InnerRunsDoNotCountTowardsTheTimeout) {
  Node node(kShort);
  node.graphs.act = [] {
    std::this_thread::sleep_for(1500ms);
    return Result<void>();
  };
  node.expect_right();
}

struct Stops {
  std::atomic<bool> now{false};
  RunResources running() const {
    return {.stopped = [](const void* of) { return static_cast<const Stops*>(of)->now.load(); }, .stopped_of = this};
  }
};

TEST(IsolatedGraphs, EndlessGraphCallsAreStopped) {
  Node node(kShort, "for ever");
  EXPECT_NE(node.failed().what.find("`enqueue` did not return within 1 s"), std::string::npos);
  Node heedless(kLong, "for ever");
  Stops stops;
  heedless.graphs.act = [&]() -> Result<void> {
    if (heedless.graphs.ran > 100) stops.now = true;
    return stops.now ? Result<void>(fail(Code::cancelled, "run", "the run was cancelled")) : Result<void>();
  };
  const Diagnostic error = heedless.failed(stops.running());
  EXPECT_EQ(error.code, Code::cancelled);
  EXPECT_NE(error.what.find("did not heed that the run was to stop"), std::string::npos) << error.what;
}

TEST(IsolatedGraphs, AStopReachesThePlugin) {
  Node node(kLong);
  node.graphs.act = [] { return fail(Code::cancelled, "run", "the run was cancelled"); };
  EXPECT_EQ(node.failed().code, Code::cancelled);
  node.graphs.act = [] { return Result<void>(); };
  node.expect_right();
}

/// The first process that this one started.
pid_t child() {
  std::ifstream in("/proc/self/task/" + std::to_string(gettid()) + "/children");
  pid_t out = 0;
  in >> out;
  return out;
}

TEST(IsolatedGraphs, OfAKilledWorkerFail) {
  Node node(kLong);
  node.expect_right();
  node.graphs.act = [] {
    kill(child(), SIGKILL);
    return Result<void>();
  };
  EXPECT_NE(node.failed().what.find("`enqueue` crashed (signal 9"), std::string::npos);
  node.graphs.act = [] { return Result<void>(); };
  node.expect_right();
}

size_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

TEST(IsolatedGraphs, LeaveNothingWhereTheirPluginCrashes) {
  Node crashes(kLong, "crash"), own(kLong, "own memory");
  size_t files = 0;
  for (int k = 0; k < 20; ++k) {
    EXPECT_NE(crashes.failed().what.find("`enqueue` crashed (signal 6"), std::string::npos);
    own.expect_right(5 + k);
    if (k == 0) files = open_files();
  }
  EXPECT_EQ(open_files(), files);
}

/// Nodes of one library, of which each has a graph that runs the next.
struct Chain {
  Chain(const std::shared_ptr<RemoteObject>& of, size_t length) {
    for (size_t k = 0; k < length; ++k) nodes.push_back(std::make_unique<Node>(of));
    for (size_t k = 0; k + 1 < length; ++k)
      nodes[k]->graphs.act = [&next = *nodes[k + 1]]() -> Result<void> {
        TRY(next.run());
        return {};
      };
  }
  std::vector<std::unique_ptr<Node>> nodes;
};

TEST(IsolatedGraphs, AreNested) {
  const auto of = object(kLong);
  Chain deep(of, 100);
  deep.nodes[0]->expect_right();
  EXPECT_EQ(deep.nodes[99]->graphs.ran, 1);
  Chain too_deep(of, ControlBlock::kLanes + 1);
  const Diagnostic error = too_deep.nodes[0]->failed();
  EXPECT_NE(error.what.find("too many runs of isolated plugins are within others"), std::string::npos) << error.text();
  deep.nodes[0]->expect_right();
}

TEST(IsolatedGraphs, RunsOnMoreThreadsThanLanes) {
  const auto of = object(kLong);
  std::atomic<int> right{0};
  std::vector<std::jthread> threads;
  for (uint32_t t = 0; t < ControlBlock::kOutermost + 16; ++t)
    threads.emplace_back([&] {
      Chain chain(of, 2);
      for (int k = 0; k < 5; ++k) right += chain.nodes[0]->run() == std::vector<float>{1, 2, 3};
    });
  threads.clear();
  EXPECT_EQ(right, (ControlBlock::kOutermost + 16) * 5);
}

/// What a process may say that writes over its own memory.
TEST(IsolatedGraphs, TheHostRefusesInvalidRequests) {
  MadeGraphs graphs;
  GraphService service(graphs);
  const auto file = *SharedFile::make(kDataStart);
  const auto part = *SharedFile::part(file, kPage);
  const std::vector<float> operand(4);
  service.enter(file);
  CommonMemory& memory = service.begin();
  memory.add({.name = {.where = 0}, .data = reinterpret_cast<const std::byte*>(operand.data()), .bytes = 16});
  memory.add({.name = {.offset = part.offset()}, .data = part.data(), .bytes = 64, .is_written = true});
  const auto read = [&](uint32_t number, std::vector<int64_t> sizes, CommonMemory::Name x, CommonMemory::Name y, int dtype = TENON_F32) {
    std::string message;
    Packer(message) << Reply::graph << number << dtype << std::span<const int64_t>(sizes) << x.where << x.offset << dtype
                    << std::span<const int64_t>(sizes) << y.where << y.offset;
    return service.answer(message);
  };
  const CommonMemory::Name x{.where = 0}, y{.offset = part.offset()};
  EXPECT_TRUE(read(0, {4}, x, y));
  EXPECT_TRUE(read(0, {0}, {.where = 9}, {.where = 9})) << "of no elements";
  ASSERT_EQ(graphs.ran, 2);
  EXPECT_FALSE(read(1, {4}, x, y)) << "no such graph";
  EXPECT_FALSE(read(0, {5}, x, y)) << "after the operand";
  EXPECT_FALSE(read(0, {4}, {.where = 1}, y)) << "no such operand";
  EXPECT_FALSE(read(0, {4}, y, x)) << "a result in an operand";
  for (const uint64_t offset : {part.offset() - 4, part.offset() + 52, ~uint64_t{0}, uint64_t{1} << 63, uint64_t{0}})
    EXPECT_FALSE(read(0, {4}, x, {.offset = offset})) << offset;
  EXPECT_FALSE(read(0, {-4}, x, y));
  EXPECT_FALSE(read(0, {int64_t{1} << 40, int64_t{1} << 40}, x, y));
  EXPECT_FALSE(read(0, std::vector<int64_t>(99, 1), x, y));
  for (const int dtype : {0, 99, -1, 8}) EXPECT_FALSE(read(0, {4}, x, y, dtype)) << dtype;
  std::string cut;
  Packer(cut) << Reply::graph << 0 << TENON_F32;
  EXPECT_FALSE(service.answer(cut));
  EXPECT_EQ(graphs.ran, 2);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{100}, ~uint64_t{0}, kFileBytes * 2}) {
    std::string message;
    Packer(message) << Reply::room << bytes;
    EXPECT_TRUE(service.answer(message));
    Unpacker answer(message);
    if (answer.as<Reply>() != Reply::done) continue;
    const CommonMemory::Name room{.offset = answer.as<uint64_t>()};
    const auto given = answer.number();
    EXPECT_TRUE(read(0, {4}, x, room));
    EXPECT_FALSE(read(0, {given / 4 + 1}, room, room)) << "after the room";
  }
  std::string message;
  Packer(message) << Reply::room << kFileBytes * 2;
  EXPECT_TRUE(service.answer(message));
  EXPECT_EQ(Unpacker(message).as<Reply>(), Reply::failed);
}

}  // namespace
}  // namespace tenon::plugin::worker
