// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::runtime {

/// Completes an error that a backend or its device returned: sets the place where it has none, and for device_failed names the backend and
/// adds advice.
Error backend_error(Error error, std::string_view backend, std::string place = {});

/// An error for a device whose result is not what the program declares. The caller adds expected() and found().
Error broken_promise(Code code, std::string place, std::string what);

}  // namespace tenon::runtime
