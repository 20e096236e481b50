// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/oracle.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/child_process.h"

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kPlace = "{}";

volatile std::sig_atomic_t signal_received = 0;  // for the handler, which gets nothing
void on_end(int) { signal_received = 1; }

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
      .expected("a program and its arguments after --")
      .found(std::move(reason))
      .advice("try it by hand with a model as its last argument");
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
  const auto child = ChildProcess::start(words_for(command, file), {.discard_stderr = command.quiet, .own_group = true});
  if (!child) return cannot_start(command, child.error());
  for (auto pause = std::chrono::milliseconds(1); !(*child)->status(); pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    const bool late = command.limit.count() > 0 && Clock::now() - begin > command.limit;
    if (late || InterruptGuard::interrupted()) (*child)->end();
    if (InterruptGuard::interrupted()) return fail(Code::cancelled, command.words[0], "the search was ended by a signal");
    if (late) return OracleAnswer{Verdict::bad, fmt::format("no answer within {:g} s", static_cast<double>(command.limit.count()) / 1e3)};
    std::this_thread::sleep_for(pause);
  }
  const int status = *(*child)->status();
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
    return cannot_start(command, fmt::format("exit code {}", WEXITSTATUS(status)));
  return answer_of(status);
}

InterruptGuard::InterruptGuard() {
  signal_received = 0;
  for (int s : {SIGINT, SIGTERM}) std::signal(s, on_end);
}
InterruptGuard::~InterruptGuard() {
  for (int s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
}
bool InterruptGuard::interrupted() { return signal_received != 0; }

}  // namespace tenon::cli
