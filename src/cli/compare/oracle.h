// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// skip: there is no verdict.
enum class Verdict : uint8_t { good, bad, skip };
std::string_view name_of(Verdict verdict);

/// A command whose exit code is the verdict on a file.
struct OracleCommand {
  std::vector<std::string> words;      ///< program and arguments; {} is replaced by the file, which is appended where there is no {}
  std::chrono::milliseconds limit{0};  ///< timeout, after which the command is killed and the file is bad; 0: none
  bool quiet = false;                  ///< its output is discarded; else it goes to stderr
};
/// A verdict and its reason.
struct OracleAnswer {
  Verdict verdict = Verdict::good;
  std::string reason;  ///< "exit code 1", "ended by signal 11", "no answer within 10 s"
};
/// Runs the command, which is looked up in PATH, in a process group of its own. Exit code 0 is good, 125 is skip, all else is bad.
/// Errors: bad_usage (it cannot be started, or exits with 126 or 127, as a shell does then), cancelled (this process got SIGINT or
/// SIGTERM).
Result<OracleAnswer> ask(const OracleCommand& command, const std::string& file);

/// In its scope, SIGINT and SIGTERM do not end the process; `ask` fails and interrupted() is true instead, so that files can be removed.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  static bool interrupted();
};

}  // namespace tenon::cli
