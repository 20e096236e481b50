// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/child_stopwatch.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler/compile.h"
#include "files/scratch_folder.h"

namespace tenon::compiler {

namespace {

constexpr int kPatienceMs = 60'000;  ///< for one engine: to load it and to run it some times

Error no_stopwatch(const std::string& program, std::string found) {
  return fail(Code::bad_usage, "measure", "there is no stopwatch to measure with")
      .expected(program + " to start, and to say that it is ready")
      .found(std::move(found))
      .advice("name the program `tenon` with its path, or leave measuring out");
}

/// A process whose lines are read. It ends with this, however far it is.
class Child {
 public:
  static Result<std::unique_ptr<Child>> start(std::vector<std::string> words) {
    std::array<int, 2> pipe{};
    if (pipe2(pipe.data(), O_CLOEXEC) != 0) return no_stopwatch(words[0], std::strerror(errno));
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    auto out = std::make_unique<Child>();
    const int error = posix_spawnp(&out->process_, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe[1]);
    out->from_ = pipe[0];
    if (error == 0) return out;
    out->process_ = -1;
    return no_stopwatch(words[0], std::strerror(error));
  }

  ~Child() {
    if (from_ >= 0) close(from_);
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

  /// nullopt: there is none, or not in time.
  std::optional<std::string> line() {
    while (true) {
      if (const size_t end = read_.find('\n'); end != read_.npos) {
        std::string out = read_.substr(0, end);
        read_.erase(0, end + 1);
        return out;
      }
      pollfd waits{.fd = from_, .events = POLLIN, .revents = 0};
      const int ready = poll(&waits, 1, kPatienceMs);
      if (ready < 0 && errno == EINTR) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ready > 0 ? read(from_, bytes.data(), bytes.size()) : 0;
      if (count <= 0) return std::nullopt;
      read_.append(bytes.data(), static_cast<size_t>(count));
    }
  }

 private:
  pid_t process_ = -1;
  int from_ = -1;
  std::string read_;
};

}  // namespace

Result<std::vector<std::optional<double>>> ChildStopwatch::time(std::span<const std::filesystem::path> engines) {
  std::vector<std::optional<double>> out;
  while (out.size() < engines.size()) {
    std::vector<std::string> words = program_;
    for (size_t k = out.size(); k < engines.size(); ++k) words.push_back(engines[k].string());
    words.insert(words.end(), options_.begin(), options_.end());
    const auto child = TRY(Child::start(std::move(words)));
    if (const auto first = child->line(); first != "ready") return no_stopwatch(program_[0], first ? "'" + *first + "'" : "nothing");
    while (out.size() < engines.size()) {
      const std::optional<std::string> line = child->line();
      const double ns = line ? std::strtod(line->c_str(), nullptr) : 0;
      out.push_back(ns > 0 ? std::optional(ns) : std::nullopt);
      if (!line) break;  // this engine took the process down, or holds it up: the next one gets another
    }
  }
  return out;
}

namespace {

/// The libraries that are in use here, each by its file: wherever they were found, the child has them too.
std::vector<std::string> words_of(const CompileOptions& options, std::span<const std::filesystem::path> custom_ops) {
  std::vector<std::string> out;
  if (options.threads > 0) out.insert(out.end(), {"--threads", std::to_string(options.threads)});
  for (const backend::Backend* b : options.backends)
    if (const auto library = b->library(); library && *library)
      out.insert(out.end(), {"--backend-lib", std::string(b->name()) + "=" + (*library)->file});
  for (const std::filesystem::path& file : custom_ops) out.insert(out.end(), {"--custom-ops", file.string()});
  return out;
}

}  // namespace

Result<std::shared_ptr<const Measuring>> measuring_in_children(std::vector<std::string> program, const CompileOptions& options,
                                                               std::span<const std::filesystem::path> custom_ops,
                                                               std::filesystem::path times) {
  if (program.empty())
    return fail(Code::bad_usage, "stopwatch", "no program is named to measure with").expected("a program and its first arguments");
  struct InFolder {
    files::ScratchFolder folder;
    Measuring measuring;
  };
  auto out = std::make_shared<InFolder>(InFolder{TRY(files::ScratchFolder::make()), {}});
  auto stopwatch = std::make_shared<ChildStopwatch>(std::move(program), words_of(options, custom_ops));
  out->measuring = {std::move(stopwatch), out->folder.path(), std::move(times)};
  return std::shared_ptr<const Measuring>(out, &out->measuring);
}

}  // namespace tenon::compiler
