// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "backend/backend.h"

namespace tenon::compiler {

/// The model name of this CPU.
std::string cpu_text();
/// This CPU and this build of Tenon: every measured time depends on both.
std::string environment_text();
/// Name and version of a backend's external library; empty where it needs none or the library is missing.
std::string library_version_text(const backend::Backend& backend);

}  // namespace tenon::compiler
