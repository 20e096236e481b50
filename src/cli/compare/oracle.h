// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

enum class Verdict : uint8_t { good, bad, skip };
std::string_view name_of(Verdict verdict);

/// A command that says whether a file is good.
struct OracleCommand {
  std::vector<std::string> words;      ///< a word {} (or {} in a word) stands for the file; without one the file comes last
  std::chrono::milliseconds limit{0};  ///< then the command is ended, and the file is bad; 0: none
  bool quiet = false;                  ///< its output is thrown away; else it goes to stderr
};
struct OracleAnswer {
  Verdict verdict = Verdict::good;
  std::string reason;  ///< "exit code 1", "ended by signal 11", "no answer within 10 s"
};
/// Runs the command, found as a shell finds it, in a process group of its own. Exit code 0 is good, 125 is skip, all else is bad.
/// Errors: bad_usage (it cannot be started; 126 and 127, which a shell gives then), cancelled (this process got SIGINT or SIGTERM).
Result<OracleAnswer> ask(const OracleCommand& command, const std::string& file);

/// While it lives, SIGINT and SIGTERM do not end the process but make `ask` fail and interrupted() true, so that files can be removed.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  static bool interrupted();
};

}  // namespace tenon::cli
