// SPDX-License-Identifier: Apache-2.0
// What takes a model: compile and partition.
#pragma once
#include <nanobind/nanobind.h>
#include <tenon/tenon.h>

#include <filesystem>
#include <map>
#include <string>

namespace tenon_python {

using BackendFiles = std::map<std::string, std::filesystem::path>;
using Files = std::vector<std::filesystem::path>;

/// Whose library is where: as named, else among the packages of this Python.
tenon::BackendLibraries libraries_of(const BackendFiles& files, const std::vector<std::filesystem::path>& custom_ops = {});

void bind_compile(nanobind::module_& m);

}  // namespace tenon_python
