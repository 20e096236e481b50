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

/// A program that was started, which is found as a shell finds it and has nothing to read. It is started, not forked: threads and locks of
/// libraries in this process do not outlive a fork. It ends with this, however far it is; a forked copy of this ends nothing.
class ChildProcess {
 public:
  struct Options {
    bool lines = false;           ///< what it prints is for line(); else it goes to this process's stderr, whose stdout is an answer
    bool quiet = false;           ///< what goes to stderr is thrown away
    bool own_group = false;       ///< what it starts ends with it, no signal to this process's group reaches it, and none is ignored
    std::vector<int> gives = {};  ///< descriptors of this process that it has as numbers from 3
  };

  /// words: the program and its arguments, one or more. An error says why it does not start.
  static std::expected<std::unique_ptr<ChildProcess>, std::string> start(std::vector<std::string> words, const Options& options);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  /// The next line that it prints, without its end. None: there is none, or not within `patience`.
  std::optional<std::string> line(std::chrono::milliseconds patience);
  /// Its exit status as waitpid() reports it; 0 where another caller took the status. None: it runs.
  std::optional<int> status();
  /// Ends it now.
  void end();

 private:
  ChildProcess() = default;
  pid_t waited(int& status, int flags) const;

  Options options_;
  pid_t process_ = -1, owner_ = -1;
  int from_ = -1;
  std::string read_;  ///< of its next lines
  std::optional<int> status_;
};

}  // namespace tenon
