// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/console/command_files.h"

namespace tenon::cli {

/// The output of a verb. Text goes to stdout, progress and errors to stderr. With --json, stdout gets one object and nothing else.
class Console {
 public:
  bool json = false;
  bool quiet = false;
  bool isolate = false;    ///< the verb runs in a process of its own
  int call_timeout = 300;  ///< with --isolate: seconds that one call of a backend may take
  CommandFiles files;      ///< files that the command line names; checked before the verb runs

  /// A line of the answer; silent with --json and --quiet.
  void line(std::string_view text = {});
  /// A part of an answer that comes in pieces, shown at once; silent with --json and --quiet.
  void piece(std::string_view text);
  /// A line beside the answer, on stderr; silent with --json and --quiet.
  void note(std::string_view text);
  /// Columns padded to their widest cell; the first row is the heading.
  void table(const std::vector<std::vector<std::string>>& rows);
  /// The answer to --json. The last one counts; printed when the verb is done.
  void object(const nlohmann::ordered_json& object);
  /// One line that is rewritten in place; only on a terminal.
  void progress(std::string_view text);
  /// A warning on stderr; silent with --quiet, part of the object with --json.
  void warn(std::string_view text);

  /// Ends the output: prints the object, or the error. Returns the exit code.
  int finish(const Result<void>& result);

 private:
  void clear_progress();
  void print_error(const Diagnostic& d) const;

  std::string object_;
  std::vector<std::string> warnings_;
  bool progress_shown_ = false;
};

/// Whether `fd` is a terminal with colours (not with NO_COLOR or TERM=dumb).
bool has_colour(int fd);

}  // namespace tenon::cli
