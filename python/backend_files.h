// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tenon/tenon.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tenon_python {

using BackendFiles = std::map<std::string, std::filesystem::path>;
using Files = std::vector<std::filesystem::path>;

/// The files of backends' libraries: those in `files`, else those found in packages of this Python.
tenon::BackendLibraries libraries_of(const BackendFiles& files, const std::vector<std::filesystem::path>& custom_ops = {});

}  // namespace tenon_python
