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

/// Where the libraries are that backends run on and Tenon does not bring. Whoever builds or runs says so; a model or an engine never does.
struct Libraries {
  std::map<std::string, std::filesystem::path, std::less<>> files;  ///< by backend; the only place where one is named
  std::vector<std::filesystem::path> packages;                      ///< folders of Python packages; none: those of the active Python
  std::vector<std::filesystem::path> custom_ops = {};               ///< operator libraries, for the backends that register such
  std::shared_ptr<const plugin::Registry> plugins = {};             ///< of libraries that were named; null: none
  plugin::Build plugin_build = plugin::Build::same;                 ///< that an engine's plugins must be of
  std::optional<plugin::Isolation> isolated_plugins = {};           ///< none: plugins run in this process
  std::vector<std::string> preferred_plugins = {};                  ///< "acme::FastDFT": kernels of ops that Tenon could compute itself
  std::map<std::string, int32_t, std::less<>> plugin_tactics = {};  ///< "acme::Conv": the tactic that all its nodes are built with
};

/// A library as its makers ship it. The texts live for ever.
struct LibraryName {
  std::string_view backend;  ///< that needs it
  std::string_view package;  ///< the Python package that brings it: "onnxruntime"
  std::string_view folder;   ///< where it lies among packages: "onnxruntime/capi"
  std::string_view file;     ///< "libonnxruntime.so"; a version may follow
  std::string_view soname;   ///< what the system's loader gets where no package has it
};

/// An open library. It stays open until the process ends, because its threads may.
struct Library {
  std::filesystem::path file;
  void* handle = nullptr;

  /// Null where it has no such symbol.
  void* find(const char* symbol) const;
};

/// Whether the process is on its way out, and with it what an open library keeps: nothing is released any more. Who holds a thing of a
/// library in a static would release it after the library's own statics are gone.
bool is_ending();

/// Calls a function of the library that a thing came from.
template <class T>
struct Release {
  void (*function)(T*) = nullptr;
  Release(void (*function)(T*)) : function(function) {}
  void operator()(T* thing) const {
    if (!is_ending()) function(thing);
  }
};
/// A thing of an open library.
template <class T>
using Owned = std::unique_ptr<T, Release<T>>;

/// Looks in the file that is named for the backend; else in packages; else where the system's loader does. What is found first is opened.
/// Errors: file_missing, with the places that were looked at; bad_file for what cannot be opened.
Result<Library> open_library(const LibraryName& name, const Libraries& libraries);

/// The active Python: of VIRTUAL_ENV, else the first python3 in PATH; nullopt: there is none.
std::optional<std::filesystem::path> active_python();
/// The folders of the packages of the active Python, found without starting it: of VIRTUAL_ENV, else of the first python3 in PATH. Empty
/// where there is none.
std::vector<std::filesystem::path> active_packages();

}  // namespace tenon::runtime
