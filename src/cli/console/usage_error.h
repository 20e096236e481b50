// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tenon::cli {

/// The verb of `app` that has this name, hidden or not; null: none.
const CLI::App* find_verb(const CLI::App& app, const std::string& name);
/// The error that `name` is no verb of `app`, with the valid verbs and the nearest one.
Error unknown_verb(const CLI::App& app, const std::string& name);
/// The error of a command line that cannot be parsed. The parser reports missing arguments before unknown options; this reports unknown
/// verbs and options first, with the nearest valid one.
Error usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, const char* const* argv);

}  // namespace tenon::cli
