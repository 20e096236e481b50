// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "plugin/public/plugins.h"

namespace tenon::cli {

using LinePrinter = std::function<void(const std::string&)>;

/// A logger that passes warnings and errors of libraries to `warn`, and other messages to `note`, as "LIBRARY: TEXT". Equal texts are
/// logged once, because a library may log the same creators as the registry. note: null without --verbose.
plugin::Logger logger_to(LinePrinter warn, LinePrinter note);

/// Logs the line of each creator that Tenon has itself.
void log_op_creators(const plugin::Logger& log);

}  // namespace tenon::cli
