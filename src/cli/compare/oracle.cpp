// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/oracle.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

extern char** environ;

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kPlace = "{}";

volatile std::sig_atomic_t end_asked = 0;  // for the handler, which gets nothing
void on_end(int) { end_asked = 1; }

std::vector<std::string> words_for(const OracleCommand& command, const std::string& file) {
  std::vector<std::string> out = command.words;
  bool placed = false;
  for (std::string& word : out)
    for (size_t at = word.find(kPlace); at != std::string::npos; at = word.find(kPlace, at + file.size())) {
      word.replace(at, kPlace.size(), file);
      placed = true;
    }
  if (!placed) out.push_back(file);
  return out;
}

Error cannot_start(const OracleCommand& command, std::string reason) {
  return fail(Code::bad_usage, command.words[0], "the command cannot be run")
      .expected("a program and its arguments behind --")
      .found(std::move(reason))
      .advice("try it by hand with a model as its last argument");
}

Result<pid_t> start(const OracleCommand& command, const std::string& file) {
  std::vector<std::string> words = words_for(command, file);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (command.quiet) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // our own stdout is the answer
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int s : {SIGINT, SIGTERM, SIGABRT}) sigaddset(&defaults, s);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_start(command, std::strerror(error));
  return child;
}

/// The whole group: a shell's children too.
void end_group(pid_t child) {
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

OracleAnswer answer_of(int status) {
  if (WIFSIGNALED(status)) return {Verdict::bad, fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
  const int code = WEXITSTATUS(status);
  const Verdict verdict = code == 0 ? Verdict::good : code == 125 ? Verdict::skip : Verdict::bad;
  return {verdict, fmt::format("exit code {}", code)};
}

}  // namespace

std::string_view name_of(Verdict verdict) { return verdict == Verdict::good ? "good" : verdict == Verdict::bad ? "bad" : "skip"; }

Result<OracleAnswer> ask(const OracleCommand& command, const std::string& file) {
  const auto begin = Clock::now();
  const pid_t child = TRY(start(command, file));
  int status = 0;
  for (auto pause = std::chrono::milliseconds(1); waitpid(child, &status, WNOHANG) == 0;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    const bool late = command.limit.count() > 0 && Clock::now() - begin > command.limit;
    if (late || EndPolitely::asked_to_end()) end_group(child);
    if (EndPolitely::asked_to_end()) return fail(Code::cancelled, command.words[0], "the search was ended by a signal");
    if (late) return OracleAnswer{Verdict::bad, fmt::format("no answer within {:g} s", static_cast<double>(command.limit.count()) / 1e3)};
    std::this_thread::sleep_for(pause);
  }
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
    return cannot_start(command, fmt::format("exit code {}", WEXITSTATUS(status)));
  return answer_of(status);
}

EndPolitely::EndPolitely() {
  end_asked = 0;
  for (int s : {SIGINT, SIGTERM}) std::signal(s, on_end);
}
EndPolitely::~EndPolitely() {
  for (int s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
}
bool EndPolitely::asked_to_end() { return end_asked != 0; }

}  // namespace tenon::cli
