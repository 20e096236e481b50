// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <utility>

#include "base/result.h"

namespace tenon::ops {

/// A shared library of the system that is opened at its first use and stays open.
struct SystemLibrary {
  const char* soname;   ///< "libpng16.so.16"
  const char* package;  ///< Debian's, for the advice
  const char* purpose;  ///< "PNG images"
};

/// Stores the address of each named function to the given pointer. Errors: not_supported, naming the library, where it or a function is
/// missing.
Result<void> bind_functions(const SystemLibrary& library, std::initializer_list<std::pair<const char*, void**>> functions);

}  // namespace tenon::ops
