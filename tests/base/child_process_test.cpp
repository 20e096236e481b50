// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

namespace {

using tenon::ChildProcess;
using namespace std::chrono_literals;

constexpr auto kLong = 100s;  // no answer in this time is a fault

/// Without capture_lines its stdout goes to stderr.
std::unique_ptr<ChildProcess> shell(const char* script, const ChildProcess::Options& options) {
  auto out = ChildProcess::start({"sh", "-c", script}, options);
  EXPECT_TRUE(out) << out.error();
  return out ? std::move(*out) : nullptr;
}

TEST(ChildProcess, GivesItsLines) {
  const auto child = shell("echo one; echo; echo not heard >&2; printf 'no end'", {.capture_lines = true, .discard_stderr = true});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->line(kLong), "one");
  EXPECT_EQ(child->line(kLong), "");
  EXPECT_EQ(child->line(kLong), std::nullopt);
}

TEST(ChildProcess, StatusReportsHowItEnded) {
  for (const auto& [script, code] : {std::pair("exit 0", 0), {"exit 3", 3}}) {
    const auto child = shell(script, {});
    ASSERT_TRUE(child);
    while (!child->status()) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(WIFEXITED(*child->status()));
    EXPECT_EQ(WEXITSTATUS(*child->status()), code);
  }
}

/// exec: a shell that is ended leaves what it started.
TEST(ChildProcess, EndStopsIt) {
  const auto child = shell("exec sleep 1000", {.capture_lines = true});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->line(0ms), std::nullopt);
  EXPECT_EQ(child->status(), std::nullopt);
  child->end();
  ASSERT_TRUE(child->status());
  EXPECT_TRUE(WIFSIGNALED(*child->status()));
}

/// Else they would hold the pipe open, and print.
TEST(ChildProcess, ItsOwnChildrenEndWithIt) {
  const auto child = shell("(sleep 2; echo alive) & echo ready; wait", {.capture_lines = true, .own_group = true});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->line(kLong), "ready");
  child->end();
  EXPECT_EQ(child->line(kLong), std::nullopt);
}

TEST(ChildProcess, ItsOwnChildrenEndWhereItEndsByItself) {
  const auto child = shell("(sleep 2; echo alive) & echo ready; kill -9 $$", {.capture_lines = true, .own_group = true});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->line(kLong), "ready");
  while (!child->status()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(WTERMSIG(*child->status()), SIGKILL);
  EXPECT_EQ(child->line(kLong), std::nullopt);
}

TEST(ChildProcess, HasTheDescriptorThatItIsGiven) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
  const auto child = shell("echo through >&3", {.inherited_descriptors = {pipe[1]}});
  ASSERT_TRUE(child);
  std::array<char, 16> read{};
  EXPECT_EQ(::read(pipe[0], read.data(), read.size()), 8);
  EXPECT_STREQ(read.data(), "through\n");
  close(pipe[0]);
  close(pipe[1]);
}

/// Each lies where another goes to.
TEST(ChildProcess, HasDescriptorsInTheirOrder) {
  std::vector<std::array<int, 2>> pipes(4);
  std::vector<int> given;
  for (auto& pipe : pipes) {
    ASSERT_EQ(pipe2(pipe.data(), O_CLOEXEC), 0);
    given.insert(given.begin(), pipe[1]);
  }
  const auto child = shell("for k in 3 4 5 6; do echo $k >&$k; done", {.inherited_descriptors = given});
  ASSERT_TRUE(child);
  for (char number = '6'; const auto& pipe : pipes) {
    std::array<char, 16> read{};
    EXPECT_EQ(::read(pipe[0], read.data(), read.size()), 2);
    EXPECT_EQ(read[0], number--);
    close(pipe[0]);
    close(pipe[1]);
  }
}

TEST(ChildProcess, UnopenedDescriptorIsAnError) { EXPECT_FALSE(ChildProcess::start({"true"}, {.inherited_descriptors = {999'999}})); }

TEST(ChildProcess, AForkedCopyEndsNothing) {
  const auto running = shell("exec sleep 1000", {.capture_lines = true});
  ASSERT_TRUE(running);
  const pid_t copy = fork();
  if (copy == 0) {
    running->end();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(copy, &status, 0), copy);
  EXPECT_EQ(running->status(), std::nullopt);
}

TEST(ChildProcess, WhatIsNotThereDoesNotStart) {
  for (const char* name : {"/no/such/program", "no-such-program", ""}) {
    const auto child = ChildProcess::start({name}, {.capture_lines = true});
    ASSERT_FALSE(child) << name;
    EXPECT_EQ(child.error(), "No such file or directory") << name;
  }
}

}  // namespace
