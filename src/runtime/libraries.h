// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plugin/isolation.h"
#include "plugin/saved.h"

namespace tenon::runtime {

/// Where to find the libraries that backends need and Tenon does not contain. Set by the caller; never read from a model or an engine.
struct Libraries {
  std::map<std::string, std::filesystem::path, std::less<>> files;  ///< by name of the backend that needs it; the only path that is tried
  std::vector<std::filesystem::path> packages;                      ///< folders of Python packages; none: those of the active Python
  std::vector<std::filesystem::path> custom_ops = {};               ///< operator libraries, for the backends that register such
  std::shared_ptr<const plugin::Registry> plugins = {};             ///< of libraries that were named; null: none
  plugin::Build plugin_build = plugin::Build::same;                 ///< whether an engine's plugins must be those it was built with
  std::optional<plugin::Isolation> isolated_plugins = {};           ///< none: plugins run in this process
  std::vector<std::string> preferred_plugins = {};                  ///< "acme::FastDFT": kernels of ops that Tenon could compute itself
  std::map<std::string, int32_t, std::less<>> plugin_tactics = {};  ///< "acme::Conv": the tactic that all its nodes are built with
};

/// The names under which a library is distributed. The strings are static.
struct LibraryName {
  std::string_view backend;  ///< the backend that needs the library
  std::string_view package;  ///< the Python package that brings it: "onnxruntime"
  std::string_view folder;   ///< where it lies among packages: "onnxruntime/capi"
  std::string_view file;     ///< "libonnxruntime.so"; a version may follow
  std::string_view soname;   ///< what the system's loader gets where no package has it
};

/// An open library. It stays open until the process ends, because its threads may still run.
struct Library {
  std::filesystem::path file;
  void* handle = nullptr;

  /// Null where it has no such symbol.
  void* find(const char* symbol) const;
};

/// Whether the process is exiting. Handles of libraries are not released then, since the library's own statics may be destroyed already.
bool is_ending();

/// Deleter that calls the release function of the library that made the object.
template <class T>
struct Release {
  void (*function)(T*) = nullptr;
  Release(void (*function)(T*)) : function(function) {}
  void operator()(T* object) const {
    if (!is_ending()) function(object);
  }
};
/// An object of an open library, released by the library's function.
template <class T>
using Owned = std::unique_ptr<T, Release<T>>;

/// Opens the library from the file that `libraries` names for the backend; else from packages; else by the system's loader.
/// Errors: file_missing, with the places that were looked at; bad_file for what cannot be opened.
Result<Library> open_library(const LibraryName& name, const Libraries& libraries);

/// The active Python: of VIRTUAL_ENV, else the first python3 in PATH; nullopt: there is none.
std::optional<std::filesystem::path> active_python();
/// The folders of the packages of the active Python, found without starting it: of VIRTUAL_ENV, else of the first python3 in PATH. Empty
/// where there is none.
std::vector<std::filesystem::path> active_packages();

}  // namespace tenon::runtime
