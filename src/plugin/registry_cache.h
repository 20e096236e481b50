// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plugin/registry.h"

namespace tenon::plugin {

/// A registry of the libraries of these files, then of those of add_to_all_registries(). Registries are cached by the contents of the
/// files until the process ends, since graphs and engines point into them. logger: gets the messages of libraries that are opened. Errors:
/// those of Registry::load. more: libraries after those of `files`.
Result<std::shared_ptr<const Registry>> cached_registry(std::span<const std::filesystem::path> files, const Logger& logger = {},
                                                        std::span<const std::shared_ptr<const Library>> more = {});

/// Adds a library, of a file or made by the process (library_of), to every registry that is requested from now on. It replaces an earlier
/// one whose first op has the same key.
void add_to_all_registries(std::shared_ptr<const Library> library);

/// The files in the environment variable TENON_PLUGINS=A.so:B.so. Only the command line and Python read it; C++ and C libraries do not.
std::vector<std::filesystem::path> files_of_environment();

}  // namespace tenon::plugin
