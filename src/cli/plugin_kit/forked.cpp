// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/forked.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>

namespace tenon::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kDone = "\x04";  ///< the child's last line; without it the child crashed or exited early

Error no_child() {
  return fail(Code::internal, "plugin test", "no process can be started to try the plugin in").found(std::strerror(errno));
}

void write_line(int to, std::string_view text) {
  static std::mutex lock;
  const std::lock_guard held(lock);
  std::string line(text);
  std::ranges::replace(line, '\n', ' ');
  line += '\n';
  for (std::string_view left = line; !left.empty();) {
    const ssize_t written = write(to, left.data(), left.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) left.remove_prefix(static_cast<size_t>(written));
  }
}

[[noreturn]] void be_the_child(int to, const std::function<void(const std::function<void(std::string_view)>&)>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  std::signal(SIGABRT, SIG_DFL);  // the parent reports the abort
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the parent's answer
  work([to](std::string_view line) { write_line(to, line); });
  write_line(to, kDone);
  _exit(0);
}

/// Reads the child's lines until it ends or the deadline passes, and kills it then.
class ChildWatcher {
 public:
  ChildWatcher(pid_t child, int from, std::chrono::seconds timeout) : child_(child), from_(from), timeout_(timeout) {}

  ChildOutcome run() {
    int status = 0;
    std::string over;
    for (pid_t ended = 0; ended != child_ && over.empty();) {
      take(20);
      ended = waitpid(child_, &status, WNOHANG);
      if (ended != child_) over = overdue();
    }
    kill(-child_, SIGKILL);  // and what it started
    if (!over.empty()) waitpid(child_, &status, 0);
    while (take(0)) {}
    ChildOutcome out = lines();
    out.ended = !over.empty() ? over : done_ ? "" : how(status);
    return out;
  }

 private:
  /// Seconds that it has computed, in all its threads.
  double computed() const {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  /// Empty: it may go on.
  std::string overdue() {
    const double now = computed();
    if (now > static_cast<double>(timeout_.count())) return fmt::format("did not return within {} s of computing", timeout_.count());
    if (now > used_time_) {
      used_time_ = now;
      since_ = Clock::now();
    }
    return Clock::now() - since_ > timeout_ ? fmt::format("did nothing for {} s and did not return", timeout_.count()) : "";
  }

  bool take(int wait_ms) {
    pollfd p{from_, POLLIN, 0};
    if (poll(&p, 1, wait_ms) <= 0) return false;
    char buffer[4096];
    const ssize_t got = read(from_, buffer, sizeof buffer);
    if (got <= 0) {
      usleep(static_cast<useconds_t>(wait_ms) * 50);  // its end is closed: it will be over in a moment
      return false;
    }
    text_.append(buffer, static_cast<size_t>(got));
    return true;
  }

  ChildOutcome lines() {
    ChildOutcome out;
    for (std::string_view left = text_; left.contains('\n');) {
      const size_t end = left.find('\n');
      if (left.substr(0, end) == kDone) done_ = true;
      else out.lines.emplace_back(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
    return out;
  }

  static std::string how(int status) {
    if (WIFEXITED(status)) return fmt::format("ended the process (exit code {})", WEXITSTATUS(status));
    return fmt::format("crashed (signal {}: {})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }

  pid_t child_;
  int from_;
  std::chrono::seconds timeout_;
  double used_time_ = 0;  ///< of computed(), when it last grew
  Clock::time_point since_ = Clock::now();
  std::string text_;
  bool done_ = false;
};

}  // namespace

Result<ChildOutcome> run_forked(const std::function<void(const std::function<void(std::string_view line)>& say)>& work,
                                std::chrono::seconds timeout) {
  int ends[2];
  if (pipe(ends) != 0) return no_child();
  std::fflush(nullptr);  // what is not printed yet would be printed twice
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    be_the_child(ends[1], work);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return no_child();
  }
  setpgid(child, child);  // parent and child both do this, so that it is done before either continues
  ChildOutcome out = ChildWatcher(child, ends[0], timeout).run();
  close(ends[0]);
  return out;
}

}  // namespace tenon::cli
