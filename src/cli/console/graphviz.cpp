// SPDX-License-Identifier: Apache-2.0
#include "cli/console/graphviz.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>

extern char** environ;

namespace tenon::cli {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
constexpr auto kTimeLimit = std::chrono::minutes(2);

Error failed(std::string what, std::string found) {
  return fail(Code::device_failed, "dot", std::move(what))
      .expected("a picture from `dot -Tsvg`")
      .found(std::move(found))
      .advice("install Graphviz (apt-get install graphviz), or leave --svg out");
}

Error no_file(const char* step) {
  return fail(Code::write_failed, P_tmpdir, std::string("cannot ") + step + " a temporary file")
      .expected("a folder that may be written, with room for the file")
      .found(std::strerror(errno));
}

/// Exit status of the child, or -1 when the time is up and it was killed.
int wait_for(pid_t child) {
  const auto end = std::chrono::steady_clock::now() + kTimeLimit;
  int status = 0;
  for (auto pause = std::chrono::milliseconds(1); waitpid(child, &status, WNOHANG) == 0;
       pause = std::min(pause * 2, std::chrono::milliseconds(50))) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(pause);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Result<pid_t> start_dot(std::FILE* in, std::FILE* out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char name[] = "dot", format[] = "-Tsvg";
  char* const argv[] = {name, format, nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, "dot", &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return failed("Graphviz cannot be started", std::strerror(error));
  return child;
}

std::string read_all(std::FILE* file) {
  std::string out;
  std::rewind(file);
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) out.append(buffer, n);
  return out;
}

/// The output of `dot -Tsvg`: a picture for each graph in `text`.
Result<std::string> run_dot(std::string_view text) {
  const File in(std::tmpfile(), &std::fclose), out(std::tmpfile(), &std::fclose);
  if (!in || !out) return no_file("make");
  const bool written = std::fwrite(text.data(), 1, text.size(), in.get()) == text.size() && std::fflush(in.get()) == 0;
  if (!written || lseek(fileno(in.get()), 0, SEEK_SET) != 0) return no_file("write");
  const int status = wait_for(TRY(start_dot(in.get(), out.get())));
  if (status == -1) return failed("Graphviz did not end", "more than two minutes");
  if (status != 0) return failed("Graphviz failed", fmt::format("exit code {}", status));
  return read_all(out.get());
}

}  // namespace

Result<std::string> render_svg(std::string_view dot) {
  std::string svg = TRY(run_dot(dot));
  const size_t start = svg.find("<svg");
  if (start == std::string::npos) return failed("Graphviz gave no picture", fmt::format("{} bytes", svg.size()));
  return svg.substr(start);
}

Result<std::vector<std::string>> render_svgs(std::span<const std::string> dots) {
  std::vector<std::string> out;
  if (dots.empty()) return out;
  std::string all;
  for (const std::string& dot : dots) all += dot;
  const std::string svgs = TRY(run_dot(all));
  constexpr std::string_view kEnd = "</svg>";
  for (size_t at = svgs.find("<svg"); at != std::string::npos; at = svgs.find("<svg", at)) {
    const size_t end = std::min(svgs.find(kEnd, at), svgs.size() - kEnd.size()) + kEnd.size();
    out.push_back(svgs.substr(at, end - at));
    at = end;
  }
  if (out.size() != dots.size()) return failed("Graphviz gave fewer pictures", fmt::format("{} of {}", out.size(), dots.size()));
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else out += c;
  }
  return out;
}

}  // namespace tenon::cli
