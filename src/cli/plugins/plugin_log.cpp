// SPDX-License-Identifier: Apache-2.0
#include "cli/plugins/plugin_log.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <set>

#include "ops/creators/op_creator.h"

namespace tenon::cli {

plugin::Logger logger_to(LinePrinter warn, LinePrinter note) {
  struct Noted {
    std::mutex lock;
    std::set<std::string, std::less<>> texts;
  };
  return [warn = std::move(warn), note = std::move(note), noted = std::make_shared<Noted>()](
             tenon_severity severity, std::string_view library, std::string_view text) {
    const bool is_warning = severity <= TENON_LOG_WARNING;
    if (!is_warning && !note) return;
    const std::lock_guard held(noted->lock);
    if (is_warning) warn(fmt::format("{}: {}", library, text));
    else if (noted->texts.emplace(text).second) note(fmt::format("{}: {}", library, text));
  };
}

void log_op_creators(const plugin::Logger& log) {
  for (const ops::OpCreator& creator : ops::op_creators())
    log(TENON_LOG_VERBOSE, creator.declared.library_name, plugin::registration_line(creator.declared));
}

}  // namespace tenon::cli
