// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace CLI {
class App;
}

namespace tenon::cli {

class Console;
/// Runs a verb after its options are parsed. An error ends the program with its exit code.
using Action = std::function<Result<void>(Console&)>;

/// One verb of the command line, in the file of its name below verbs/ (an underscore is a dash on the command line). --json, --quiet,
/// --help and --help-all are there for every verb.
struct Verb {
  std::string_view summary;
  /// Shown under --help, one command a line.
  std::string_view examples;
  /// Declares the options, and returns the action that uses them; the action owns the parsed values.
  Action (*setup)(CLI::App& app);
  bool isolates = false;  ///< runs code of other libraries: has --isolate
  bool hidden = false;    ///< internal: not shown in help, completion and the manual page
};

/// Defines the verb of the file `IDENT.cpp` inside `namespace tenon::cli::verb_IDENT`; the build lists the folder, so the file's existence
/// is the registration.
#define VERB(IDENT)                             \
  extern const ::tenon::cli::Verb verb_##IDENT; \
  constinit const ::tenon::cli::Verb verb_##IDENT

struct NamedVerb {
  std::string_view name;
  const Verb* verb;
};
/// All verbs, sorted by name.
std::span<const NamedVerb> all_verbs();

/// The whole program. Returns the exit code: 0 ok, 1 bad model or input, 2 bad usage, 3 not supported yet, 70 a bug of Tenon.
int run(int argc, const char* const* argv);

}  // namespace tenon::cli
