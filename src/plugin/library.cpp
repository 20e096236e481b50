// SPDX-License-Identifier: Apache-2.0
#include "plugin/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>

#include "plugin/struct_versions.h"

namespace tenon::plugin {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSymbol = "tenon_plugin_library";
constexpr uint32_t kMostOps = 1 << 16;

/// Describes a library that is none of Tenon's plugins, by its exported symbols.
std::string description_of(void* handle) {
  struct ForeignLibrary {
    const char *symbol, *text;
  };
  constexpr ForeignLibrary kForeign[] = {
      {"OrtGetApiBase", "ONNX Runtime itself"},
      {"RegisterCustomOps", "custom ops of ONNX Runtime (--custom-ops takes those)"},
      {"CreateEpFactories", "an execution provider of ONNX Runtime"},
      {"getPluginCreators", "plugins built against TensorRT's headers (build them against tenon/trt.hpp)"},
      {"getCreators", "plugins built against TensorRT's headers (build them against tenon/trt.hpp)"},
      {"createInferRuntime_INTERNAL", "TensorRT itself"},
      {"getPluginRegistry", "TensorRT itself"},
  };
  for (const ForeignLibrary& k : kForeign)
    if (dlsym(handle, k.symbol)) return k.text;
  return "a library without it";
}

Result<void*> opened_handle(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return fail(Code::file_missing, file.string(), "there is no such plugin library")
        .expected("a shared library")
        .found("no file")
        .advice("give the path of the library");
  const fs::path absolute = fs::absolute(file, ignored);  // dlopen searches other folders for a name without a slash
  if (void* handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* const reason = dlerror();
  return fail(Code::bad_file, file.string(), "the plugin library cannot be opened")
      .expected("a shared library of this machine, with the libraries that it needs")
      .found(reason ? reason : "no reason given")
      .advice("`ldd` prints what is missing");
}

Result<const tenon_library*> exported_library(const fs::path& file, void* handle, const Host& host) {
  const auto entry = reinterpret_cast<decltype(&tenon_plugin_library)>(dlsym(handle, kSymbol));
  if (!entry)
    return fail(Code::bad_file, file.string(), "this is no library of Tenon's plugins")
        .expected(fmt::format("an exported function {}", kSymbol))
        .found(description_of(handle))
        .advice("`./dev new-plugin NAME` writes one to start from");
  clear_failure();
  const tenon_library* const library = entry(host.table());
  if (library) return library;
  const std::string reason = take_failure();
  return fail(Code::device_failed, file.string(), "the plugin library refuses to be used here")
      .found(reason.empty() ? "no reason given" : reason);
}

Result<void> read_ops(const tenon_library& given, const Host& host, Library& out) {
  if (given.op_count > kMostOps || (given.op_count > 0 && !given.ops))
    return fail(Code::bad_file, out.file.string(), "its list of ops cannot be read")
        .expected(fmt::format("at most {}", kMostOps))
        .found(std::to_string(given.op_count));
  std::vector<std::string> wrong;
  for (uint32_t k = 0; k < given.op_count; ++k) {
    if (!given.ops[k]) {
      wrong.push_back(fmt::format("op {} is null", k));
      continue;
    }
    auto op = read_op(*given.ops[k]);
    if (!op) {
      wrong.push_back(fmt::format("{}: {}", op.error()->place, op.error()->what));
      continue;
    }
    op->library_name = out.name;
    op->file = out.file.filename().string();
    op->sha256 = out.sha256;
    op->host = &host;
    op->in_process = !out.is_file;
    const auto twin = std::ranges::find(out.ops, op->key(), &Op::key);
    if (twin != out.ops.end()) wrong.push_back(fmt::format("two ops are {}", op->key()));
    out.ops.push_back(*std::move(op));
  }
  if (wrong.empty()) return {};
  return fail(Code::bad_file, out.file.string(), fmt::format("{} of its {} ops cannot be used", wrong.size(), given.op_count))
      .expected("ops as tenon/plugin.h describes them")
      .found(fmt::format("{}", fmt::join(wrong, "\n            ")))
      .advice("the library has to be mended; nothing of it was registered");
}

/// Reads and checks all that a library declares.
Result<void> read_table(const tenon_library& of, const Host& host, Library& out) {
  const tenon_library given = adapted(of);
  if (given.needs > TENON_PLUGIN_VERSION)
    return fail(Code::wrong_target, out.file.string(), "the plugin library is made for a newer Tenon")
        .expected(fmt::format("one that needs at most version {} of the plugin interface", TENON_PLUGIN_VERSION))
        .found(fmt::format("one that needs version {}", given.needs))
        .advice("use a newer Tenon, or build the library against this one's tenon/plugin.h");
  out.name = given.name ? given.name : out.file.filename().string();
  out.version = given.version ? given.version : "";
  out.needs = given.needs;
  return read_ops(given, host, out);
}

/// sealed: the memory that contains the library; null: it is a file. The descriptor of the memory stays open: the loader knows libraries by
/// their paths, and the path of a later memory with the same descriptor would be taken for this library.
Result<std::shared_ptr<const Library>> read(const fs::path& file, SealedMemory* sealed, std::string sha256, const Logger& logger) {
  void* const handle = TRY(opened_handle(file));
  const auto out = std::make_shared<Library>();
  out->file = sealed ? fs::path(sealed->name()) : file;
  out->is_file = !sealed;
  if (sealed) out->sealed = sealed->keep();
  // Libraries keep the table: it is there as long as they are.
  const Host& host = Host::permanent(out->file.filename().string(), logger);
  out->sha256 = std::move(sha256);
  TRY(read_table(*TRY(exported_library(out->file, handle, host)), host, *out));
  return out;
}

/// All libraries that were opened; they stay open until the process ends.
struct OpenLibraries {
  std::mutex lock;
  std::vector<std::shared_ptr<const Library>> libraries;

  std::shared_ptr<const Library> find(std::string_view sha256) const {
    const auto found = std::ranges::find(libraries, sha256, [](const auto& l) { return std::string_view(l->sha256); });
    return found == libraries.end() ? nullptr : *found;
  }
};

OpenLibraries& open_libraries() {
  static OpenLibraries& out = *new OpenLibraries;
  return out;
}

Result<std::shared_ptr<const Library>> open_once(const fs::path& file, SealedMemory* sealed, const Logger& logger) {
  std::string sha256 = TRY(sha256_of(file));
  const std::lock_guard held(open_libraries().lock);
  if (auto open = open_libraries().find(sha256)) return open;
  auto library = TRY(read(file, sealed, std::move(sha256), logger));
  open_libraries().libraries.push_back(library);
  return library;
}

}  // namespace

std::shared_ptr<const Library> open_library_of(std::string_view sha256) {
  const std::lock_guard held(open_libraries().lock);
  return open_libraries().find(sha256);
}

Result<std::shared_ptr<const Library>> open_library(const fs::path& file, const Logger& logger) { return open_once(file, nullptr, logger); }

Result<std::shared_ptr<const Library>> open_library(SealedMemory memory, const Logger& logger) {
  return open_once(memory.path(), &memory, logger);
}

Result<std::shared_ptr<const Library>> library_of(const tenon_library& given, std::string origin, std::string sha256,
                                                  const Logger& logger) {
  const Host& host = Host::permanent(origin, logger);
  const auto out = std::make_shared<Library>();
  out->file = std::move(origin);
  out->is_file = false;
  out->sha256 = std::move(sha256);
  TRY(read_table(given, host, *out));
  return out;
}

}  // namespace tenon::plugin
