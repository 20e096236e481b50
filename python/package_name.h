// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenon_python {

/// The package that the extension is in, "tenon" or "tenon_runtime". Each extension's bindings.cpp defines it: the rest of the run side is
/// the same objects in both.
extern const char* const kPackageName;

}  // namespace tenon_python
