// SPDX-License-Identifier: Apache-2.0
#include "plugins/environment.h"

#include <fmt/format.h>

#include <cmath>

#include "handles.h"
#include "plugin/kept.h"

namespace tenon::python {

std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins) {
  auto out = plugin::files_of_environment();
  out.insert(out.end(), plugins.begin(), plugins.end());
  return out;
}

std::chrono::milliseconds patience_of(double seconds) {
  if (seconds > 0 && seconds < 1e9) return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
  raise(fail(Code::bad_usage, "plugin_patience", "no call can take as long").expected("seconds above 0").found(fmt::format("{}", seconds)));
}

}  // namespace tenon::python
