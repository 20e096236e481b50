// SPDX-License-Identifier: Apache-2.0
#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace tenon {

namespace {

constexpr int kFirstGiven = 3;

/// Copies of what is given, whose numbers are none that the child has them by: one would be overwritten before it is copied itself.
class Copies {
 public:
  explicit Copies(const std::vector<int>& of) {
    for (const int d : of) numbers_.push_back(fcntl(d, F_DUPFD_CLOEXEC, kFirstGiven + static_cast<int>(of.size())));
  }
  ~Copies() {
    for (const int d : numbers_)
      if (d >= 0) close(d);
  }
  Copies(const Copies&) = delete;
  /// Adds the actions to `actions`. Returns the error number of the posix_spawn functions; 0: none.
  int give(posix_spawn_file_actions_t& actions) const {
    int error = 0;
    for (size_t k = 0; k < numbers_.size() && error == 0; ++k)
      error = posix_spawn_file_actions_adddup2(&actions, numbers_[k], kFirstGiven + static_cast<int>(k));
    return error;
  }

 private:
  std::vector<int> numbers_;
};

int spawned(pid_t& process, std::vector<std::string>& command, const ChildProcess::Options& options, int out) {
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.discard_stderr) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  const Copies copies(options.inherited_descriptors);
  int error = copies.give(actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (options.own_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int s : {SIGINT, SIGTERM, SIGABRT}) sigaddset(&defaults, s);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  if (error == 0) error = posix_spawnp(&process, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::expected<std::unique_ptr<ChildProcess>, std::string> ChildProcess::start(std::vector<std::string> command, const Options& options) {
  std::array<int, 2> pipe{-1, STDERR_FILENO};
  if (options.capture_lines && pipe2(pipe.data(), O_CLOEXEC) != 0) return std::unexpected(std::strerror(errno));
  std::unique_ptr<ChildProcess> out(new ChildProcess);
  out->options_ = options;
  out->from_ = pipe[0];
  pid_t process = -1;
  const int error = spawned(process, command, options, pipe[1]);
  if (options.capture_lines) close(pipe[1]);
  if (error != 0) return std::unexpected(std::strerror(error));
  out->process_ = process;
  out->owner_ = getpid();
  return out;
}

ChildProcess::~ChildProcess() {
  end();
  if (from_ >= 0) close(from_);
}

pid_t ChildProcess::waited(int& status, int flags) const {
  pid_t ended = -1;
  do ended = waitpid(process_, &status, flags);
  while (ended < 0 && errno == EINTR);
  if (ended >= 0) return ended;
  status = 0;  // a process that ignores SIGCHLD, or waits for all its children, gets no status
  return process_;
}

void ChildProcess::end() {
  if (process_ <= 0 || status_ || owner_ != getpid()) return;
  kill(options_.own_group ? -process_ : process_, SIGKILL);
  int status = 0;
  waited(status, 0);
  status_ = status;
}

std::optional<int> ChildProcess::status() {
  siginfo_t ended{};
  if (!status_ && options_.own_group && waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid != 0)
    kill(-process_, SIGKILL);  // processes that it started, before its process number can be reused
  int status = 0;
  if (!status_ && waited(status, WNOHANG) == process_) status_ = status;
  return status_;
}

std::optional<std::string> ChildProcess::line(std::chrono::milliseconds timeout) {
  while (true) {
    if (const size_t end = read_.find('\n'); end != read_.npos) {
      std::string out = read_.substr(0, end);
      read_.erase(0, end + 1);
      return out;
    }
    pollfd waits{.fd = from_, .events = POLLIN, .revents = 0};
    const int ready = poll(&waits, 1, static_cast<int>(timeout.count()));
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 4096> bytes;
    const ssize_t count = ready > 0 ? read(from_, bytes.data(), bytes.size()) : 0;
    if (count <= 0) return std::nullopt;
    read_.append(bytes.data(), static_cast<size_t>(count));
  }
}

}  // namespace tenon
