// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "engine_values.h"
#include "plugins/environment.h"

namespace tenon::python {

std::chrono::milliseconds timeout_of(double seconds) {
  if (seconds > 0 && seconds < 1e9) return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
  tenon_python::raise({tenon::Code::bad_usage, "plugin_timeout", "a timeout must be a positive number below 1e9", "seconds above 0",
                       fmt::format("{}", seconds), ""});
}

}  // namespace tenon::python
