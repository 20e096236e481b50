// SPDX-License-Identifier: Apache-2.0
// Where plugins log: to Tenon, and what they say of errors becomes part of Tenon's own.
#pragma once
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "tenon/ext/core.hpp"
#include "tenon/trt/types.hpp"

namespace tenon::trt {

namespace detail {

/// What this thread's plugin has logged since take_errors() was called.
struct PluginMessages {
  std::string errors;         ///< joined by "; "
  std::string missing_field;  ///< the last that PluginFieldParser did not find
};
TENON_TRT_OWN inline PluginMessages& plugin_messages() {
  thread_local PluginMessages own;
  return own;
}
/// The errors, once, as the end of a sentence.
inline std::string take_errors() {
  std::string out = std::move(plugin_messages().errors);
  plugin_messages() = PluginMessages();
  return out.empty() ? ", and logged no error" : ": " + out;
}

class Logger final : public ILogger {
 public:
  void log(Severity severity, AsciiChar const* msg) noexcept override {
    if (!msg) return;
    try {
      if (severity <= Severity::kERROR) plugin_messages().errors += (plugin_messages().errors.empty() ? "" : "; ") + std::string(msg);
    } catch (...) {  // no memory for the text: the log has it
    }
    const tenon_host* const host = ext::host();
    if (host) host->log(host, severity_of(severity), msg);
    else if (severity <= Severity::kWARNING) std::fprintf(stderr, "%s\n", msg);
  }

 private:
  static tenon_severity severity_of(Severity s) {
    return s <= Severity::kERROR ? TENON_LOG_ERROR : static_cast<tenon_severity>(static_cast<int32_t>(s));
  }
};

class LoggerFinder final : public ILoggerFinder {
 public:
  explicit LoggerFinder(ILogger* logger) : logger_(logger) {}
  ILogger* findLogger() override { return logger_; }

 private:
  ILogger* logger_;
};

}  // namespace detail

/// Tenon's log. Before a host has opened the library: stderr, errors and warnings alone.
TENON_TRT_OWN inline ILogger* getLogger() noexcept {
  static detail::Logger& own = *new detail::Logger;
  return &own;
}

TENON_TRT_OWN inline ILoggerFinder* getLoggerFinder() noexcept {
  static detail::LoggerFinder& own = *new detail::LoggerFinder(getLogger());
  return &own;
}

/// Logs it. An empty optional is reported as the field that is missing.
inline void caughtError(std::exception const& e) noexcept {
  try {
    std::string text = e.what();
    const std::string& missing = detail::plugin_messages().missing_field;
    if (!missing.empty() && text == std::bad_optional_access().what()) text = "field '" + missing + "' is missing";
    getLogger()->log(ILogger::Severity::kERROR, text.c_str());
  } catch (...) { getLogger()->log(ILogger::Severity::kERROR, "an error, and no memory for its text"); }
}

}  // namespace tenon::trt
