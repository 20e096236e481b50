// SPDX-License-Identifier: Apache-2.0
#include "plugins/environment.h"

#include "compiler/plugins.h"
#include "handles.h"

namespace tenon::python {

std::vector<std::filesystem::path> with_environment(const std::vector<std::filesystem::path>& plugins) {
  auto out = plugin::files_of_environment();
  out.insert(out.end(), plugins.begin(), plugins.end());
  return out;
}

const ir::OpTable& ops_with(const std::vector<std::filesystem::path>& plugins) {
  return *unwrap(compiler::kept_plugins(with_environment(plugins))).ops;
}

}  // namespace tenon::python
