// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plugin/registry.h"

namespace tenon::plugin {

/// The libraries of these files, then the process's own. One registry for each such list, by what the files hold: it stays until the
/// process ends, since graphs and engines point into it. `logger` gets the messages of new lists. Errors: those
/// of Registry::load.
/// more: others that come after those of files.
Result<std::shared_ptr<const Registry>> cached_registry(std::span<const std::filesystem::path> files, const Logger& logger = {},
                                                        std::span<const std::shared_ptr<const Library>> more = {});

/// A library that the process made itself (library_of): part of every list that is requested from now on, in place of an earlier own one
/// that has its first op's key.
void add_in_process_library(std::shared_ptr<const Library> library);

/// TENON_PLUGINS=A.so:B.so. For the programs that a person starts; libraries of ours never look at it.
std::vector<std::filesystem::path> files_of_environment();

}  // namespace tenon::plugin
