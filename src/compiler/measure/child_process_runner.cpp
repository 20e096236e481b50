// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/child_process_runner.h"

#include <cstdlib>
#include <utility>

#include "base/child_process.h"
#include "compiler/compile.h"
#include "files/scratch_folder.h"
#include "plugin/public/plugins.h"

namespace tenon::compiler {

namespace {

constexpr std::chrono::seconds kEngineTimeout(60);  ///< to load one engine and run it several times

Error no_runner(const std::string& program, std::string found) {
  return fail(Code::bad_usage, "measure", "the program that measures does not start")
      .expected(program + " to start and to print \"ready\"")
      .found(std::move(found))
      .advice("name the program `tenon` with its path, or leave measuring out");
}

}  // namespace

Result<std::vector<std::optional<std::string>>> ChildProcessRunner::output_lines(std::span<const std::filesystem::path> engines,
                                                                                 const std::vector<std::string>& options) const {
  std::vector<std::optional<std::string>> out;
  while (out.size() < engines.size()) {
    std::vector<std::string> arguments = program_;
    for (size_t k = out.size(); k < engines.size(); ++k) arguments.push_back(engines[k].string());
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto child = ChildProcess::start(std::move(arguments), {.capture_lines = true, .discard_stderr = true});
    if (!child) return no_runner(program_[0], child.error());
    if (const auto first = (*child)->line(kEngineTimeout); first != "ready")
      return no_runner(program_[0], first ? "'" + *first + "'" : "nothing");
    while (out.size() < engines.size())
      if (!out.emplace_back((*child)->line(kEngineTimeout))) break;  // the process ended or hangs: the next engine gets a new one
  }
  return out;
}

Result<std::vector<std::optional<double>>> ChildProcessRunner::time(std::span<const std::filesystem::path> engines) {
  std::vector<std::optional<double>> out;
  for (const auto& line : TRY(output_lines(engines, {}))) {
    const double ns = line ? std::strtod(line->c_str(), nullptr) : 0;
    out.push_back(ns > 0 ? std::optional(ns) : std::nullopt);
  }
  return out;
}

Result<std::vector<std::string>> ChildProcessRunner::run(std::span<const std::filesystem::path> engines) {
  std::vector<std::string> out;
  for (const auto& line : TRY(output_lines(engines, {"--results"}))) {
    if (!line) out.emplace_back("it crashed, ended the process, or exceeded the timeout");
    else out.push_back(*line == "ran" ? "" : line->starts_with("- ") ? line->substr(2) : *line);
  }
  return out;
}

namespace {

/// Command-line arguments that give the child process the threads and the libraries of this process, each library by its file.
std::vector<std::string> arguments_of(const CompileOptions& options, const runtime::Libraries& libraries) {
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

Result<std::shared_ptr<const MeasureOptions>> child_process_measure_options(std::vector<std::string> program, const CompileOptions& options,
                                                                            const runtime::Libraries& libraries,
                                                                            std::filesystem::path times) {
  if (program.empty())
    return fail(Code::bad_usage, "timing_program", "the program that measures has no name").expected("a program and its first arguments");
  struct OptionsWithFolder {
    files::ScratchFolder folder;
    MeasureOptions measuring;
  };
  auto out = std::make_shared<OptionsWithFolder>(OptionsWithFolder{TRY(files::ScratchFolder::make()), {}});
  auto runner = std::make_shared<ChildProcessRunner>(std::move(program), arguments_of(options, libraries));
  out->measuring = {std::move(runner), out->folder.path(), std::move(times)};
  return std::shared_ptr<const MeasureOptions>(out, &out->measuring);
}

}  // namespace tenon::compiler
