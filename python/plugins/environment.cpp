// SPDX-License-Identifier: Apache-2.0
#include "plugins/environment.h"

#include "plugin/public/plugins.h"

namespace tenon::python {

std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins) {
  auto out = plugin::files_of_environment();
  out.insert(out.end(), plugins.begin(), plugins.end());
  return out;
}

}  // namespace tenon::python
