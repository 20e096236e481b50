// SPDX-License-Identifier: Apache-2.0
#include "backends/onnxruntime/device/api.h"

#include <charconv>

namespace tenon::backends::onnxruntime {

namespace {

constexpr runtime::LibraryName kLibrary{.backend = "onnxruntime",
                                        .package = "onnxruntime",
                                        .folder = "onnxruntime/capi",
                                        .file = "libonnxruntime.so",
                                        .soname = "libonnxruntime.so.1"};
constexpr const char* kPlace = "backend 'onnxruntime'";

/// Of "1.MINOR.PATCH", which counts the versions of the interface too; 0: something else.
uint32_t minor_of(std::string_view version) {
  uint32_t minor = 0;
  if (version.starts_with("1.")) std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor;
}

}  // namespace

Result<std::shared_ptr<const Api>> Api::open(const runtime::Libraries& libraries) {
  const runtime::Library library = TRY(runtime::open_library(kLibrary, libraries));
  const auto base = reinterpret_cast<const Base* (*)()>(library.find("OrtGetApiBase"));
  if (!base)
    return fail(Code::bad_file, kPlace, "this library is no ONNX Runtime")
        .expected("a library with OrtGetApiBase")
        .found(library.file.string())
        .advice("give libonnxruntime.so of the Python package onnxruntime, or of its release");
  auto api = std::shared_ptr<Api>(new Api());
  api->file_ = library.file;
  api->version_ = base()->version();
  if (minor_of(api->version_) >= kVersion) api->table_ = base()->table(kVersion);
  if (!api->table_)
    return fail(Code::wrong_target, kPlace, "this ONNX Runtime has another interface than is needed")
        .expected("ONNX Runtime 1." + std::to_string(kVersion) + " or newer")
        .found(api->version_ + ": " + library.file.string())
        .advice("install a newer one: pip install -U onnxruntime");
  api->env_ = TRY(api->make(function::release_env, [&](Env** out) { return (*api)[function::create_env](Logging::fatal, "tenon", out); }));
  api->memory_ = TRY(api->make(function::release_memory, [&](MemoryInfo** out) {
    return (*api)[function::create_cpu_memory](AllocatorKind::device, MemoryKind::any, out);
  }));
  const auto arena = TRY(api->make(function::release_memory, [&](MemoryInfo** out) {
    return (*api)[function::create_cpu_memory](AllocatorKind::arena, MemoryKind::any, out);
  }));
  TRY(api->check((*api)[function::register_allocator](api->env_.get(), arena.get(), nullptr)));
  api->custom_ops_ = libraries.custom_ops;
  TRY(api->try_custom_ops());
  return api;
}

/// Reports a file that is no such library before anything is built or run.
Result<void> Api::try_custom_ops() const {
  for (const std::filesystem::path& file : custom_ops_) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
      return fail(Code::file_missing, kPlace, "the operator library is not where it was said to be")
          .expected("a library that registers ops in ONNX Runtime")
          .found("no file " + file.string());
    const auto options =
        TRY(make(function::release_session_options, [&](SessionOptions** out) { return (*this)[function::create_session_options](out); }));
    if (const auto registered = check((*this)[function::register_custom_ops](options.get(), file.c_str())); !registered)
      return fail(Code::bad_file, kPlace, "this is no operator library of ONNX Runtime")
          .expected("a library with RegisterCustomOps")
          .found(file.string() + ": " + registered.error()->what);
  }
  return {};
}

Result<void> Api::check(Status* status) const {
  if (!status) return {};
  const Owned<Status> owned(status, (*this)[function::release_status]);
  return fail(Code::device_failed, "", std::string("ONNX Runtime: ") + (*this)[function::error_message](status));
}

}  // namespace tenon::backends::onnxruntime
