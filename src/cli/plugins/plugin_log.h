// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "plugin/public/plugins.h"

namespace tenon::cli {

using LinePrinter = std::function<void(const std::string&)>;

/// Gives warnings and errors of libraries to `warn`, and what else is logged to `note`, "LIBRARY: TEXT", equal texts once: a library may
/// log the creators that it registers as the registry does. note: null without --verbose.
plugin::Logger logger_to(LinePrinter warn, LinePrinter note);

/// Logs the line of each creator that Tenon has itself.
void log_op_creators(const plugin::Logger& log);

}  // namespace tenon::cli
