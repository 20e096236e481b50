// SPDX-License-Identifier: Apache-2.0
// Nodes in processes of their own: their whole life, and every way in which a plugin may end its process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/threads/thread_pool.h"
#include "plugin/run/runner.h"
#include "plugin/worker/remote_runner.h"
#include "plugin/worker/worker_service.h"

namespace tenon::plugin::worker {
namespace {

using namespace std::chrono_literals;

/// Kinds of harm, as fixtures/harm.c numbers them.
enum Harm {
  crash = 1001,
  abort_it,
  exit_it,
  loop,
  leak,
  scribble,
  after,
  operand,
  long_text,
  long_log,
  late_thread,
  heeds,
  out_of_memory,
  child,
  waits,
  in_thread
};

constexpr Isolation kShort{.call_timeout = 1s, .memory = 64 << 20};
constexpr Isolation kLong{.call_timeout = 100s, .memory = 64 << 20};

std::mutex log_lock;
std::vector<std::string> logged;

std::shared_ptr<const Library> harm_library() {
  static const auto out = open_library(TENON_HARM, [](tenon_severity, std::string_view, std::string_view text) {
    const std::lock_guard held(log_lock);
    logged.emplace_back(text);
  });
  return out ? *out : nullptr;
}

/// One node of harm::Scaled, or another op of the library, in one context.
class Node {
 public:
  explicit Node(const Isolation& isolation, const char* op = "Scaled", float factor = 2) {
    const auto library = harm_library();
    const auto found = std::ranges::find(library->ops, op, &Op::name);
    Field field = *scalar_field("factor", TENON_FIELD_F32, factor);
    auto made = RemoteObject::create(*found, *SharedProcess::of(library, isolation),
                                     {.name = "node 'it'", .fields = {field}, .operands = 1, .results = 1});
    if (!made) error = made.error();
    else object = *made;
    if (object) attach();
  }
  explicit Node(std::shared_ptr<RemoteObject> of) : object(std::move(of)) { attach(); }

  Result<std::vector<float>> run(std::vector<float> x, const RunResources& running = {}) {
    const auto size = static_cast<int64_t>(x.size());
    if (size != size_) {
      size_ = size;
      x_ = Tensor::of_f32({size}, x);
      y_ = *Tensor::make(DType::f32, {size});
      TRY(runner->set_shapes({&x_, 1}, {&y_, 1}, {true}));
    }
    runner->point_operand(0, x.data());
    runner->point_result(0, y_.mutable_data());
    TRY(runner->run(running));
    const auto y = y_.as<float>();
    return std::vector(y.begin(), y.end());
  }
  Result<std::vector<float>> run(float first, const RunResources& running = {}) { return run(std::vector<float>{first, 1, -3}, running); }

  void expect_right() {
    const auto y = run(4);
    ASSERT_TRUE(y) << y.error().text();
    EXPECT_EQ(*y, (std::vector<float>{8, 2, -6}));
  }
  Diagnostic failed(float first, const RunResources& running = {}) {
    const auto y = run(first, running);
    EXPECT_FALSE(y) << first;
    return y ? Diagnostic{} : *y.error();
  }

  std::optional<Error> error;
  std::shared_ptr<RemoteObject> object;
  std::unique_ptr<NodeRunner> runner;

 private:
  void attach() {
    auto made = RemoteRunner::make(object, {DType::f32}, {}, 0);
    if (made) runner = *std::move(made);
    else error = made.error();
  }
  int64_t size_ = -1;
  Tensor x_, y_;
};

size_t count_in(const char* folder) {
  size_t out = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++out;
  return out;
}

/// Processes that this one started, zombies too.
size_t children() {
  std::ifstream in("/proc/self/task/" + std::to_string(gettid()) + "/children");
  size_t out = 0;
  for (pid_t pid = 0; in >> pid;) ++out;
  return out;
}

TEST(Isolation, BuildRunAndDestroy) {
  logged.clear();
  {
    Node node(kLong, "Scaled", 3);
    ASSERT_FALSE(node.error) << node.error->text();
    EXPECT_EQ(*node.run(4), (std::vector<float>{12, 3, -9}));
    EXPECT_EQ(*node.run({1, 2}), (std::vector<float>{3, 6})) << "other shapes";
    EXPECT_EQ(node.run(std::vector<float>())->size(), 0U);
    Node counts(kLong, "Objects");
    EXPECT_EQ((*counts.run(0))[0], 3) << "an object, what is attached to it, and this one: in one process";
    node.runner = nullptr;
    node.object = nullptr;
    EXPECT_EQ((*counts.run(0))[0], 1) << "they are destroyed there";
  }
  EXPECT_EQ(logged, (std::vector<std::string>{"created", "created"}));
  EXPECT_EQ(children(), 0U);
}

TEST(Isolation, RunsOnAThreadPool) {
  Node node(kLong);
  std::vector<float> x(100'000, 1.5F);
  const auto y = node.run(x, {.thread_pool = &default_thread_pool(), .threads = default_thread_pool().size()});
  ASSERT_TRUE(y) << y.error().text();
  EXPECT_EQ(*y, std::vector<float>(x.size(), 3));
}

struct SentMessage {
  Harm harm;
  Code code;
  const char *what, *found;
};

TEST(Isolation, EachFaultIsOneErrorAndTheNextRunIsCorrect) {
  const std::vector<SentMessage> cases{
      {crash, Code::device_failed, "`enqueue` crashed (signal 11", "(f32[3])"},
      {abort_it, Code::device_failed, "`enqueue` crashed (signal 6", ""},
      {exit_it, Code::device_failed, "`enqueue` ended its process (exit code 3)", ""},
      {loop, Code::device_failed, "`enqueue` did not return within 1 s", ""},
      {leak, Code::out_of_memory, "of the 67108864 bytes that it may take", ""},
      {scribble, Code::device_failed, "`enqueue` crashed", ""},
      {after, Code::device_failed, "`enqueue` crashed", "it wrote past the end of result 0"},
      {operand, Code::device_failed, "`enqueue` crashed", "it wrote into an operand"},
      {out_of_memory, Code::out_of_memory, "no room for a table", ""},
      {child, Code::device_failed, "`enqueue` crashed (signal 11", ""},
      {in_thread, Code::device_failed, "`enqueue` crashed (signal 11", ""},
  };
  Node node(kShort);
  node.expect_right();
  for (const SentMessage& t : cases) {
    SCOPED_TRACE(static_cast<int>(t.harm));
    const Diagnostic error = node.failed(static_cast<float>(t.harm));
    EXPECT_EQ(error.code, t.code) << error.text();
    EXPECT_NE(error.what.find(t.what), std::string::npos) << error.text();
    EXPECT_NE(error.found.find(t.found), std::string::npos) << error.text();
    EXPECT_NE(error.place.find("node 'it', plugin 'harm::Scaled' of"), std::string::npos) << error.text();
    node.expect_right();
  }
}

/// TENON_HARM_RUNS=1000 is the bar's number.
TEST(Isolation, NoProcessFileOrMappingIsLeft) {
  const char* const said = std::getenv("TENON_HARM_RUNS");
  const int runs = said ? std::atoi(said) : 30;
  Node node(kShort);
  node.expect_right();
  const size_t files = count_in("/proc/self/fd"), maps = count_in("/proc/self/map_files");
  for (int k = 0; k < runs; ++k) {
    node.failed(static_cast<float>(crash + k % 6));
    node.expect_right();
    ASSERT_EQ(children(), 1U);
  }
  EXPECT_EQ(count_in("/proc/self/fd"), files);
  EXPECT_LE(count_in("/proc/self/map_files"), maps + 8);
  node.runner = nullptr;
  node.object = nullptr;
  EXPECT_EQ(children(), 0U);
}

TEST(Isolation, AWorkerOfAnotherVersionIsRefused) {
  std::string message;
  Packer(message) << kVersion + 1 << std::string_view("no/such.so") << std::string_view() << 0;
  Unpacker from(message);
  std::string answer;
  Packer to(answer);
  static Lane lane;
  const auto opened = WorkerService(getpid(), nullptr).answer(Verb::open, from, to, lane);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::wrong_target) << opened.error().text();
}

TEST(Isolation, LongTextsArriveComplete) {
  Node node(kLong);
  EXPECT_NE(node.failed(long_text).what.find(std::string(300'000, 'x')), std::string::npos);
  logged.clear();
  EXPECT_TRUE(node.run(long_log));
  ASSERT_EQ(logged.size(), 30U) << "more than there is room for at once";
  EXPECT_EQ(logged[1], std::string(100'000, 'b'));
}

/// Elements of an operand that is worth reading where it is.
constexpr size_t kMany = 10'000;
constexpr int64_t kManyBytes = kMany * sizeof(float);

/// A run on these, whose result stays with the node. Bytes that were copied.
int64_t run_there(Node& node, float* x, float first) {
  for (size_t k = 0; k < kMany; ++k) x[k] = first + static_cast<float>(k);
  node.runner->point_operand(0, x);
  node.runner->point_result(0, nullptr);
  const auto ran = node.runner->run({});
  EXPECT_TRUE(ran) << ran.error().text();
  const auto* const y = static_cast<const float*>(node.runner->kept_result(0));
  for (size_t k = 0; ran && k < kMany; ++k)
    if (y[k] != 2 * x[k]) {
      ADD_FAILURE() << k << ": " << y[k];
      break;
    }
  return node.runner->copied_bytes();
}

TEST(Isolation, OperandsAreReadWhereTheyAre) {
  Node node(kLong);
  const Tensor shape = *Tensor::make(DType::f32, {kMany});
  ASSERT_TRUE(node.runner->set_shapes({&shape, 1}, {&shape, 1}, {true}));
  const auto file = *SharedFile::make(0);
  const auto one = *SharedFile::part(file, kManyBytes), other = *SharedFile::part(file, kManyBytes);
  const SharedMemory share_one(one.data(), one.bytes(), file->descriptor(), one.offset());
  const SharedMemory share_other(other.data(), other.bytes(), file->descriptor(), other.offset());
  auto* const x = reinterpret_cast<float*>(one.data());
  EXPECT_EQ(run_there(node, x, 1), 0);
  EXPECT_EQ(run_there(node, x, 2), 0);
  EXPECT_EQ(run_there(node, reinterpret_cast<float*>(other.data()), 3), kManyBytes) << "it moves";
  EXPECT_EQ(run_there(node, x, 4), kManyBytes);
}

TEST(Isolation, OperandsAreCopiedWhereTheSystemDoesNotLetThemBeRead) {
  Node node(kLong);
  Tensor x = *Tensor::make(DType::f32, {kMany});
  ASSERT_TRUE(node.runner->set_shapes({&x, 1}, {&x, 1}, {true}));
  const SharedMemory nowhere(x.data(), kManyBytes, 999'999, 0);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(run_there(node, reinterpret_cast<float*>(x.mutable_data()), static_cast<float>(k)), kManyBytes);
}

TEST(Isolation, FaultsInCreate) {
  const Node refused(kLong, "Scaled", -2);
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->code(), Code::bad_attribute);
  EXPECT_NE((*refused.error)->what.find("its `create` says: a factor of -2 is too little"), std::string::npos);
  const Node crashed(kLong, "Scaled", -1);
  ASSERT_TRUE(crashed.error);
  EXPECT_NE((*crashed.error)->what.find("its `create` crashed (signal 6"), std::string::npos);
}

TEST(Isolation, AThreadThatCrashesLater) {
  Node node(kLong);
  EXPECT_TRUE(node.run(late_thread));
  std::this_thread::sleep_for(200ms);
  node.expect_right();  // nobody was asked yet when the process ended
}

struct Stops {
  std::atomic<bool> now{false};
  RunResources running() const {
    return {.stopped = [](const void* of) { return static_cast<const Stops*>(of)->now.load(); }, .stopped_of = this};
  }
};

TEST(Isolation, StopTokenReachesTheWorker) {
  Node node(kLong);
  Stops stops;
  std::jthread later([&] {
    std::this_thread::sleep_for(30ms);
    stops.now = true;
  });
  EXPECT_EQ(node.failed(heeds, stops.running()).code, Code::cancelled);
  const Diagnostic error = node.failed(loop, stops.running());
  EXPECT_EQ(error.code, Code::cancelled);
  EXPECT_NE(error.what.find("did not heed that the run was to stop"), std::string::npos);
  node.expect_right();
}

TEST(Isolation, ContextsInParallel) {
  Node first(kLong);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      Node node(first.object);
      for (int k = 0; k < 300; ++k) {
        const auto value = static_cast<float>(t * 100 + k % 50);
        const auto y = node.run({value, value + 1});
        if (!y || *y != std::vector<float>{2 * value, 2 * value + 2}) ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(children(), 1U);
}

TEST(Isolation, ConcurrentRunsNameTheFaultyPlugin) {
  Node one(kLong), other(kLong);
  std::jthread waiting([&] {
    const Diagnostic error = other.failed(waits);
    EXPECT_NE(error.what.find("was lost: another call of its library crashed (signal 11"), std::string::npos) << error.text();
  });
  std::this_thread::sleep_for(20ms);
  one.failed(crash);
  waiting.join();
  one.expect_right();
  other.expect_right();
}

/// The copy of the host gets a process of its own, and leaves that of the other alone.
TEST(Isolation, RunsInAForkedHost) {
  Node node(kLong);
  node.expect_right();
  const pid_t copy = fork();
  if (copy == 0) {
    bool right = true;
    for (int k = 0; k < 3; ++k) right = right && node.run(5) == std::vector<float>{10, 2, -6};
    node.runner = nullptr;
    node.object = nullptr;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(status, 0);
  node.expect_right();
}

/// A zombie does not: whoever inherits it may be slow to look.
bool runs(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const size_t name_end = text.rfind(')');
  return name_end != text.npos && text.at(name_end + 2) != 'Z';
}

TEST(Isolation, WorkerEndsWithItsHost) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t host = fork();
  if (host == 0) {
    // In a thread that ends: what is tied to the thread that started it would end too early.
    std::unique_ptr<Node> node;
    std::thread([&] { node = std::make_unique<Node>(kLong); }).join();
    std::ifstream in("/proc/self/task/" + std::to_string(gettid()) + "/children");
    pid_t worker = 0;
    in >> worker;
    if (worker == 0 || !node->run(1) || write(pipe[1], &worker, sizeof worker) < 0) _exit(1);
    node->run(loop);
    _exit(1);
  }
  pid_t worker = 0;
  ASSERT_EQ(read(pipe[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  EXPECT_EQ(kill(worker, 0), 0);
  kill(host, SIGKILL);
  int status = 0;
  waitpid(host, &status, 0);
  for (int k = 0; k < 1000 && runs(worker); ++k) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(runs(worker));
}

}  // namespace
}  // namespace tenon::plugin::worker
