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
/// `name` is no verb of `app`: which there are, and the nearest one.
Error unknown_verb(const CLI::App& app, const std::string& name);
/// What a command line that cannot be parsed has wrong. The parser misses what is required before it names unknown options; here
/// unknown verbs and options come first, with the nearest that there is.
Error usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, const char* const* argv);

}  // namespace tenon::cli
