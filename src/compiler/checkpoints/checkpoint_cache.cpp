// SPDX-License-Identifier: Apache-2.0
#include "compiler/checkpoints/checkpoint_cache.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/version.h"
#include "compiler/checkpoints/engine_cache.h"
#include "compiler/measure/cache_path.h"
#include "compiler/onnx_decoder.h"
#include "compiler/read_model.h"
#include "compiler/save.h"
#include "files/gguf.h"

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

/// An ONNX model, or that of a folder; nullopt: the checkpoint is of another kind.
std::optional<fs::path> onnx_model_of(const fs::path& checkpoint) {
  std::error_code error;
  if (fs::is_directory(checkpoint, error)) return onnx_decoder_in(checkpoint);
  return files::is_onnx(checkpoint) ? std::optional(checkpoint) : std::nullopt;
}

/// The files of a checkpoint: those of a folder; an ONNX model and files beside it that it may read; all parts of a split GGUF file
/// (NAME-00001-of-00003.gguf).
std::vector<fs::path> files_of_checkpoint(const fs::path& checkpoint) {
  std::error_code error;
  const bool is_folder = fs::is_directory(checkpoint, error);
  if (const auto model = onnx_model_of(checkpoint)) return files_of_onnx_decoder(*model);
  const std::string name = checkpoint.filename().string();
  const size_t part = name.find("-00001-of-");
  if (!is_folder && part == std::string::npos) return {checkpoint};
  const fs::path folder = is_folder ? checkpoint : checkpoint.has_parent_path() ? checkpoint.parent_path() : fs::path(".");
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file(error) && (is_folder || entry.path().filename().string().starts_with(name.substr(0, part))))
      out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

/// The files of an adapter: its weights, and the configuration in its folder or beside it.
std::vector<fs::path> files_of_adapter(const fs::path& adapter) {
  std::error_code error;
  const fs::path config = (fs::is_directory(adapter, error) ? adapter : adapter.parent_path()) / "adapter_config.json";
  std::vector<fs::path> out;
  for (const fs::path& file : {config, adapter / "adapter_model.safetensors"})
    if (fs::exists(file, error)) out.push_back(file);
  return out;
}

/// Path, size and time of the last change.
Result<std::string> identity(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::canonical(file, error);
  const auto changed = error ? fs::file_time_type() : fs::last_write_time(whole, error);
  if (error)
    return fail(Code::file_missing, file.string(), "the file cannot be opened").expected("a file that can be read").found(error.message());
  const bool has_size = fs::is_regular_file(whole, error);
  return fmt::format("{}\n{}\n{}\n", whole.string(), has_size ? fs::file_size(whole, error) : 0, changed.time_since_epoch().count());
}

/// The file that has this code: the program, or the library that a program loaded.
fs::path own_file() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&cached_engine), &info) == 0 || info.dli_fname == nullptr) return "/proc/self/exe";
  const fs::path file = info.dli_fname;
  return file.is_absolute() ? file : fs::path("/proc/self/exe");  // a program is named as it was called
}

/// Errors: file_missing, bad_usage.
Result<void> check_checkpoint(const fs::path& path) {
  constexpr const char* kExpected = "a GGUF file, a Hugging Face folder, or an ONNX model with tokenizer.json beside it";
  std::error_code error;
  if (!fs::exists(path, error))
    return fail(Code::file_missing, path.string(), "there is no such file").expected(kExpected).found("nothing");
  if (fs::is_directory(path, error) || files::is_gguf(path)) return {};
  if (files::is_onnx(path) && TRY(files::read_text_assets(path)).contains(files::TextAsset::tokenizer)) return {};
  return fail(Code::bad_usage, path.string(), "the file is no language model with its tokenizer")
      .expected(std::string("an engine that was built from one, ") + kExpected)
      .found(files::is_onnx(path) ? "an ONNX model alone" : "another file")
      .advice("give the checkpoint; other ONNX models run with `tenon run`");
}

Result<void> build(const fs::path& checkpoint, const CheckpointOptions& of_checkpoint, const fs::path& to, const BuildMessages& messages) {
  const auto warn = [&](std::span<const std::string> warnings) {
    for (const std::string& w : warnings)
      if (messages.warning) messages.warning(w);
  };
  import::ImportOptions reading;
  reading.states = of_checkpoint.states;
  if (files::is_onnx(checkpoint)) reading.states.emplace_back("auto");
  auto imported = TRY(read_model(checkpoint, reading, of_checkpoint));
  warn(imported.warnings);
  for (const std::string& note : imported.notes)
    if (messages.note) messages.note(note);
  CompileOptions options;
  options.source = checkpoint.filename().string();
  options.activations = of_checkpoint.activations;
  if (of_checkpoint.config.plain_attention) options.off.emplace(kAttentionRule);
  options.progress = messages.step;
  options.text = std::move(imported.text);
  const Compiled compiled = TRY(compile({std::move(imported.graph), std::move(imported.unbounded)}, options));
  warn(compiled.report.warnings);
  return save(compiled, options, to);
}

}  // namespace

Result<std::string> cached_engine_name(const fs::path& checkpoint, const CheckpointOptions& options) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", kProducer, cpu_features().text(), options.context,
                                name_of(options.weights), name_of(options.kv), codegen::name_of(options.activations),
                                options.config.identity(), options.batch, options.window, options.sinks);
  all += TRY(identity(own_file()));  // between releases too
  all += TRY(identity(checkpoint));
  for (const fs::path& file : files_of_checkpoint(checkpoint)) all += TRY(identity(file));
  for (const std::string& state : options.states) all += state + "\n";
  for (const auto& [path, scale] : TRY(options.adapters())) {
    all += fmt::format("{}\n", scale) + TRY(identity(path));
    for (const fs::path& file : files_of_adapter(path)) all += TRY(identity(file));
  }
  const fs::path name = checkpoint.has_filename() ? checkpoint : checkpoint.parent_path();
  return fmt::format("{}-{}.tenon", name.stem().string(), hash128(all).text().substr(0, 16));
}

Result<fs::path> cached_engine(const fs::path& checkpoint, const CheckpointOptions& options, const BuildMessages& messages) {
  TRY(check_checkpoint(checkpoint));
  TRY(refuse_dry_run(options.config));
  const fs::path path = cache_path("engines/" + TRY(cached_engine_name(checkpoint, options)));
  if (path.empty())
    return fail(Code::bad_usage, checkpoint.string(), "there is no folder to keep the engine of this checkpoint in")
        .expected("HOME or XDG_CACHE_HOME to be set")
        .found("neither")
        .advice("build an engine with `tenon build`, and give that");
  const uint64_t limit = TRY(engine_cache_limit());
  if (use_engine(path)) return path;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    return fail(Code::write_failed, path.parent_path().string(), "the folder cannot be made")
        .expected("a folder that may be written")
        .found(error.message())
        .advice("set XDG_CACHE_HOME to one");
  const auto note = [&](const std::string& line) {
    if (messages.note) messages.note(line);
  };
  note(fmt::format("builds {} once, into {}", checkpoint.string(), path.string()));
  const auto start = std::chrono::steady_clock::now();
  TRY(build(checkpoint, options, path, messages));
  note(fmt::format("built in {:.1f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  if (const RemovedEngines removed = remove_engines(path.parent_path(), path, limit); removed.count > 0)
    note(fmt::format("removed {} engine{} that {} used for longest, {:.1f} MB: TENON_CACHE_SIZE limits the cache", removed.count,
                     removed.count > 1 ? "s" : "", removed.count > 1 ? "were not" : "was not", static_cast<double>(removed.bytes) / 1e6));
  return path;
}

}  // namespace tenon::compiler
