// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/child_stopwatch.h"

#include <cstdlib>
#include <utility>

#include "base/child_process.h"
#include "compiler/compile.h"
#include "files/scratch_folder.h"
#include "plugin/public/plugins.h"

namespace tenon::compiler {

namespace {

constexpr std::chrono::seconds kPatience(60);  ///< for one engine: to load it and to run it some times

Error no_stopwatch(const std::string& program, std::string found) {
  return fail(Code::bad_usage, "measure", "there is no stopwatch to measure with")
      .expected(program + " to start, and to say that it is ready")
      .found(std::move(found))
      .advice("name the program `tenon` with its path, or leave measuring out");
}

}  // namespace

Result<std::vector<std::optional<std::string>>> ChildStopwatch::lines(std::span<const std::filesystem::path> engines,
                                                                      const std::vector<std::string>& options) const {
  std::vector<std::optional<std::string>> out;
  while (out.size() < engines.size()) {
    std::vector<std::string> words = program_;
    for (size_t k = out.size(); k < engines.size(); ++k) words.push_back(engines[k].string());
    words.insert(words.end(), options_.begin(), options_.end());
    words.insert(words.end(), options.begin(), options.end());
    const auto child = ChildProcess::start(std::move(words), {.lines = true, .quiet = true});
    if (!child) return no_stopwatch(program_[0], child.error());
    if (const auto first = (*child)->line(kPatience); first != "ready")
      return no_stopwatch(program_[0], first ? "'" + *first + "'" : "nothing");
    while (out.size() < engines.size())
      if (!out.emplace_back((*child)->line(kPatience))) break;  // it took the process down, or holds it up: the next one gets another
  }
  return out;
}

Result<std::vector<std::optional<double>>> ChildStopwatch::time(std::span<const std::filesystem::path> engines) {
  std::vector<std::optional<double>> out;
  for (const auto& line : TRY(lines(engines, {}))) {
    const double ns = line ? std::strtod(line->c_str(), nullptr) : 0;
    out.push_back(ns > 0 ? std::optional(ns) : std::nullopt);
  }
  return out;
}

Result<std::vector<std::string>> ChildStopwatch::run(std::span<const std::filesystem::path> engines) {
  std::vector<std::string> out;
  for (const auto& line : TRY(lines(engines, {"--results"}))) {
    if (!line) out.emplace_back("it crashed, ended the process, or did not come back");
    else out.push_back(*line == "ran" ? "" : line->starts_with("- ") ? line->substr(2) : *line);
  }
  return out;
}

namespace {

/// The libraries that are in use here, each by its file: wherever they were found, the child has them too.
std::vector<std::string> words_of(const CompileOptions& options, const runtime::Libraries& libraries) {
  std::vector<std::string> out;
  if (options.threads > 0) out.insert(out.end(), {"--threads", std::to_string(options.threads)});
  for (const backend::Backend* b : options.backends)
    if (const auto library = b->library(); library && *library)
      out.insert(out.end(), {"--backend-lib", std::string(b->name()) + "=" + (*library)->file});
  for (const std::filesystem::path& file : libraries.custom_ops) out.insert(out.end(), {"--custom-ops", file.string()});
  if (!libraries.plugins) return out;
  for (const auto& library : libraries.plugins->libraries())
    if (library->is_file) out.insert(out.end(), {"--plugin", library->file.string()});
  return out;
}

}  // namespace

Result<std::shared_ptr<const Measuring>> measuring_in_children(std::vector<std::string> program, const CompileOptions& options,
                                                               const runtime::Libraries& libraries, std::filesystem::path times) {
  if (program.empty())
    return fail(Code::bad_usage, "stopwatch", "no program is named to measure with").expected("a program and its first arguments");
  struct InFolder {
    files::ScratchFolder folder;
    Measuring measuring;
  };
  auto out = std::make_shared<InFolder>(InFolder{TRY(files::ScratchFolder::make()), {}});
  auto stopwatch = std::make_shared<ChildStopwatch>(std::move(program), words_of(options, libraries));
  out->measuring = {std::move(stopwatch), out->folder.path(), std::move(times)};
  return std::shared_ptr<const Measuring>(out, &out->measuring);
}

}  // namespace tenon::compiler
