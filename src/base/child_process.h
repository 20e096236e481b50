// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A program that runs in a child process, without input on stdin. The destructor kills it; in a forked copy of this process it does
/// nothing. The program is started by exec, since threads and locks of libraries in this process do not work in a fork.
class ChildProcess {
 public:
  struct Options {
    bool capture_lines = false;  ///< line() reads its stdout; else its stdout goes to this process's stderr
    bool discard_stderr = false;
    bool own_group = false;  ///< it has a process group of its own, which is killed with it, and default signal handlers
    std::vector<int> inherited_descriptors = {};  ///< the child has them as 3, 4, ...
  };

  /// command: the program, which is looked up in PATH, and its arguments. The error text states why it does not start.
  static std::expected<std::unique_ptr<ChildProcess>, std::string> start(std::vector<std::string> command, const Options& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  /// The next line of its output, without the newline. None: the output ended, or no line came within `timeout`.
  std::optional<std::string> line(std::chrono::milliseconds timeout);
  /// Its exit status as waitpid() reports it; 0 where another caller took the status. None: it runs.
  std::optional<int> status();
  /// Kills it.
  void end();

 private:
  ChildProcess() = default;
  /// waitpid() for the process.
  pid_t waited(int& status, int flags) const;

  Options options_;
  pid_t process_ = -1, owner_ = -1;
  int from_ = -1;     ///< pipe from its stdout
  std::string read_;  ///< bytes that were read and not yet returned by line()
  std::optional<int> status_;
};

}  // namespace tenon
