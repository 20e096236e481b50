// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "backend/backend.h"

namespace tenon::compiler {

/// Of this CPU.
std::string cpu_text();
/// What times depend on wherever they are taken: this CPU, and this build of Tenon, which makes other kernels than another.
std::string text_of_here();
/// ... and on a backend's library: its name and version; empty where it needs none, or has none.
std::string library_text(const backend::Backend& backend);

}  // namespace tenon::compiler
