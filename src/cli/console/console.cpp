// SPDX-License-Identifier: Apache-2.0
#include "cli/console/console.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/advice.h"

namespace tenon::cli {
namespace {

void put(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

/// Names come from files, and a file could control the terminal: control characters are shown as \xNN.
std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    if (control) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  }
  return out;
}

nlohmann::ordered_json json_of(const Diagnostic& found) {
  const Diagnostic d = advised(found);
  return {{"code", static_cast<int>(d.code)}, {"name", name_of(d.code)}, {"place", d.place},  {"what", d.what},
          {"expected", d.expected},           {"found", d.found},        {"advice", d.advice}};
}

std::string dump(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

bool has_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  if ((no_colour && *no_colour) || (term && std::string_view(term) == "dumb")) return false;
  return isatty(fd) == 1;
}

void Console::line(std::string_view text) {
  if (json || quiet) return;
  clear_progress();
  put(stdout, harmless(text) + "\n");
}

void Console::piece(std::string_view text) {
  if (json || quiet) return;
  clear_progress();
  put(stdout, harmless(text));
  std::fflush(stdout);
}

void Console::note(std::string_view text) {
  if (json || quiet) return;
  clear_progress();
  put(stderr, harmless(text) + "\n");
}

void Console::table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string text;
    for (size_t i = 0; i < row.size(); ++i) text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    line(text);
  }
}

void Console::object(const nlohmann::ordered_json& object) {
  if (!json) return;
  nlohmann::ordered_json whole = object;
  if (!warnings_.empty()) whole["warnings"] = warnings_;
  object_ = dump(whole);
}

void Console::clear_progress() {
  if (progress_shown_) put(stderr, "\r\033[K");
  progress_shown_ = false;
}

void Console::progress(std::string_view text) {
  if (json || quiet || isatty(STDERR_FILENO) != 1) return;
  clear_progress();
  put(stderr, text);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Console::warn(std::string_view text) {
  warnings_.emplace_back(text);
  if (json || quiet) return;
  clear_progress();
  const bool colour = has_colour(STDERR_FILENO);
  put(stderr, fmt::format("{}warning:{} {}\n", colour ? "\033[33m" : "", colour ? "\033[0m" : "", harmless(text)));
}

void Console::print_error(const Diagnostic& d) const {
  const bool colour = has_colour(STDERR_FILENO);
  const std::string_view red = colour ? "\033[1;31m" : "", dim = colour ? "\033[2m" : "", off = colour ? "\033[0m" : "";
  std::string text = fmt::format("{}error[TN{}]{}", red, static_cast<int>(d.code), off);
  if (!d.place.empty()) text += fmt::format(" at {}", harmless(d.place));
  text += fmt::format(": {}\n", harmless(d.what));
  const auto part = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {}{:<9}{} {}\n", dim, label, off, harmless(value));
  };
  part("expected:", d.expected);
  part("found:", d.found);
  part("try:", advised(d).advice);
  put(stderr, text);
}

int Console::finish(const Result<void>& result) {
  clear_progress();
  if (result) {
    put(stdout, object_);
  } else if (json) {
    // The object keeps the fields that the verb had set before it failed.
    auto whole = object_.empty() ? nlohmann::ordered_json::object() : nlohmann::ordered_json::parse(object_);
    whole["error"] = json_of(*result.error());
    put(stdout, dump(whole));
  } else {
    print_error(*result.error());
  }
  // A full disk or a closed pipe shows only when the buffer is written.
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  const char* reason = std::strerror(errno);
  if (!result) return exit_code_of(result.error().code());
  if (written) return 0;
  print_error(*fail(Code::write_failed, "standard output", "the output cannot be written").expected("a place with room").found(reason));
  return exit_code_of(Code::write_failed);
}

}  // namespace tenon::cli
