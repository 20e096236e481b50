// SPDX-License-Identifier: Apache-2.0
// What several threads do at once with one library: most of all for a race detector (./dev test: thread.plugin).
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/threads/thread_pool.h"
#include "made_op.h"
#include "plugin/registry.h"
#include "plugin/registry_cache.h"
#include "plugin/run/runner.h"

namespace tenon::plugin {
namespace {

constexpr int kThreads = 4, kTimes = 200;

/// Runs `body(thread)` in several threads at once.
void at_once(const std::function<void(int)>& body) {
  std::atomic<int> ready{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      body(t);
    });
}

/// y = x plus what a shared resource holds, computed in pieces.
struct AddsShared {
  AddsShared() {
    made.table.enqueue = [](void*, const tenon_call* call) -> int32_t {
      static constexpr int kOne = 1;
      const tenon_resource maker{.struct_size = sizeof(tenon_resource),
                                 .make = [](void* argument, void** out) -> int32_t {
                                   *out = new int(*static_cast<const int*>(argument));
                                   return TENON_OK;
                                 },
                                 .destroy = [](void* one) { delete static_cast<int*>(one); },
                                 .argument = const_cast<int*>(&kOne)};
      struct Piece {
        const tenon_call* call;
        const int* one;
      } piece{call, nullptr};
      void* shared = nullptr;
      if (const int32_t status = call->host->acquire(call->host, "one", &maker, &shared); status != TENON_OK) return status;
      piece.one = static_cast<const int*>(shared);
      const auto body = [](void* argument, int64_t begin, int64_t end, int32_t) {
        const auto& p = *static_cast<const Piece*>(argument);
        const auto* const x = static_cast<const float*>(p.call->operands[0]->data);
        auto* const y = static_cast<float*>(p.call->results[0]->data);
        for (int64_t k = begin; k < end && p.call->stopped(p.call) == 0; ++k) y[k] = x[k] + static_cast<float>(*p.one);
      };
      const int32_t status = call->parallel_for(call, call->operands[0]->sizes[0], 64, body, &piece);
      call->host->log(call->host, TENON_LOG_VERBOSE, "computed");
      return status == TENON_OK ? call->host->release(call->host, "one") : status;
    };
  }
  MadeOp made;
};

TEST(PluginThreads, ContextsShareAnObjectAThreadPoolAndResources) {
  const AddsShared adds;
  const Op op = adds.made.read();
  const std::shared_ptr<const Object> object = *Object::create(op, TENON_RUN, "node", {}, 1, 1);
  std::atomic<int> wrong{0};
  at_once([&](int thread) {
    const auto runner = *Runner::make(object, 1, {DType::f32});
    const Tensor x = Tensor::of_f32({1000}, std::vector<float>(1000, static_cast<float>(thread)));
    Tensor y = *Tensor::make(DType::f32, {1000});
    bool is_well = runner->set_shapes({&x, 1}, {&y, 1}, {true}).has_value();
    for (int k = 0; is_well && k < kTimes; ++k) {
      is_well = runner->run({.thread_pool = &default_thread_pool(), .threads = default_thread_pool().size()}).has_value();
      for (const float v : y.as<float>()) is_well = is_well && v == static_cast<float>(thread + 1);
    }
    if (!is_well) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(op.host->resource_holders(), 0U);
}

TEST(PluginThreads, RegistryIsReadWhileLibrariesLoad) {
  MadeOp made;
  Registry registry;
  std::atomic<int> lines{0};
  const LoadOptions options{.name_space = {}, .logger = [&](tenon_severity, std::string_view, std::string_view) { ++lines; }};
  at_once([&](int thread) {
    for (int k = 0; k < 20; ++k) {
      MadeOp own;
      const std::string name = "Op" + std::to_string(k);  // the same of all threads
      own.table.name = name.c_str();
      const tenon_op* const ops[] = {&own.table};
      auto library = blank<tenon_library>();
      library.op_count = 1;
      library.ops = ops;
      const auto added = registry.add(*library_of(library, "thread " + std::to_string(thread), std::string(64, '3')), options);
      if (!added || !registry.find("made", name)) ADD_FAILURE() << name;
      for (const Op* op : registry.ops()) EXPECT_FALSE(op->name.empty());
    }
  });
  EXPECT_EQ(registry.ops().size(), 20U);
  EXPECT_EQ(lines, 20);
}

TEST(PluginThreads, CachedRegistriesAreShared) {
  std::array<std::shared_ptr<const Registry>, kThreads> seen;
  const std::filesystem::path files[] = {TENON_HARM};
  at_once([&](int thread) {
    for (int k = 0; k < 20; ++k) {
      auto got = cached_registry(files);
      if (!got || !(*got)->find("harm", "Scaled")) ADD_FAILURE();
      else seen[static_cast<size_t>(thread)] = *got;
    }
  });
  for (const auto& s : seen) EXPECT_EQ(s, seen[0]);
}

}  // namespace
}  // namespace tenon::plugin
