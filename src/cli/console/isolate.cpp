// SPDX-License-Identifier: Apache-2.0
#include "cli/console/isolate.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <thread>

#include "base/activity.h"

namespace tenon::cli {

namespace {

using Clock = std::chrono::steady_clock;

Activity::Record* shared_record() {
  void* at = mmap(nullptr, sizeof(Activity::Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : new (at) Activity::Record;
}

Error no_child() { return fail(Code::internal, "--isolate", "no process can be started to run in").found(std::strerror(errno)); }

Error ended_early(const Activity::Record& record, const std::string& how) {
  const bool of_backend = record.text[0] != 0, of_plugin = std::string_view(record.text).starts_with("plugin ");
  return fail(of_backend ? Code::device_failed : Code::internal, "--isolate",
              of_backend ? fmt::format("{}, and {}", record.text, how) : fmt::format("the process {}", how))
      .expected(of_plugin ? "a plugin that returns" : "a backend that returns")
      .found(how)
      .advice(of_plugin    ? "`tenon plugin test LIB` tries what has to hold for a plugin"
              : of_backend ? "leave the backend out, or give its nodes to another: --pin, --fallback-ops"
                           : "report this: no backend was at work");
}

/// Waits for the child. Kills it where a backend does not return.
Result<int> wait_for(pid_t child, const Activity::Record& record, std::chrono::seconds timeout) {
  uint64_t seen = 0;
  auto since = Clock::now();
  for (auto nap = std::chrono::microseconds(200);; nap = std::min(nap * 2, std::chrono::microseconds(20'000))) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child && WIFEXITED(status) && record.text[0] == 0) return WEXITSTATUS(status);
    if (ended == child && WIFEXITED(status))
      return ended_early(record, fmt::format("ended the process (exit code {})", WEXITSTATUS(status)));
    if (ended == child) return ended_early(record, fmt::format("crashed (signal {}: {})", WTERMSIG(status), strsignal(WTERMSIG(status))));
    if (ended < 0 && errno != EINTR) return no_child();
    if (const uint64_t changes = record.changes.load(std::memory_order_acquire); changes != seen || record.text[0] == 0) {
      seen = changes;
      since = Clock::now();
    }
    if (Clock::now() - since > timeout) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return ended_early(record, fmt::format("did not return within {} s", timeout.count()));
    }
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace

Result<int> run_isolated(const std::function<int()>& rest, std::chrono::seconds timeout) {
  Activity::Record* const record = shared_record();
  if (!record) return no_child();
  const pid_t child = fork();
  if (child < 0) return no_child();
  if (child > 0) return wait_for(child, *record, timeout);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGABRT, SIG_DFL);  // this process reports the abort
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  Activity::record_in(record);
  return rest();
}

}  // namespace tenon::cli
