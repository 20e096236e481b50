// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/result.h"

namespace tenon::inline base {

/// The exception that is being handled, as an error. For the boundaries of the library: code of the standard library, LLVM and others may
/// throw. out_of_memory: no memory, or no thread could be started. internal: anything else.
/// Throws std::bad_alloc itself where there is not even memory for the error.
Error exception_error(std::string place);

}  // namespace tenon::inline base
