// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::runtime {

/// An error that came back from a backend or its device, and what it leaves open: its place; where that code itself failed (device_failed),
/// whose it is and what may be done.
Error of_backend(Error error, std::string_view backend, std::string place = {});

/// A device gave something else than was promised of it: a start for expected() and found().
Error broken_promise(Code code, std::string place, std::string what);

}  // namespace tenon::runtime
