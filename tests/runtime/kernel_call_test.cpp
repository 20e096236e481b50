// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/kernel_call.h"

#include <gtest/gtest.h>

namespace tenon::tests {
namespace {

using namespace runtime;

struct Ran {
  StopToken token;
  int64_t tasks = 0;
  bool stops = false;
};

void count_tasks(const KernelArgs* args, int64_t begin, int64_t end) {
  Ran& ran = *static_cast<Ran*>(args->buffers[0]);
  ran.tasks += end - begin;
  if (ran.stops) ran.token.stop.store(true);
}

int64_t tasks_run(Ran& ran, bool watched) {
  RunOptions options;
  options.token = &ran.token;
  std::atomic<Stop> stopped{Stop::none};
  void* arguments[] = {&ran};
  KernelCall call;
  call.function = count_tasks;
  call.arguments = arguments;
  call.stop_options = watched ? &options : nullptr;
  call.stopped = &stopped;
  call.piece = 16;
  call(100, 1100, 0);
  return ran.tasks;
}

TEST(KernelCall, CallThatMayBeStoppedRunsAllTasksOnce) {
  Ran ran;
  EXPECT_EQ(tasks_run(ran, true), 1000);
}

TEST(KernelCall, StopEndsCallAfterOnePiece) {
  Ran ran;
  ran.stops = true;
  EXPECT_EQ(tasks_run(ran, true), 16);
}

TEST(KernelCall, CallThatCannotBeStoppedIsOnePiece) {
  Ran ran;
  ran.stops = true;
  EXPECT_EQ(tasks_run(ran, false), 1000);
}

}  // namespace
}  // namespace tenon::tests
