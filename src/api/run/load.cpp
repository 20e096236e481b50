// SPDX-License-Identifier: Apache-2.0
#include "runtime/load.h"

#include "api/state.h"

namespace tenon::inline v1 {

base::Result<std::shared_ptr<runtime::Engine>> open_engine(const std::filesystem::path& path, const LoadOptions& options) {
  return runtime::load_engine(path, {.verify = options.verify, .opaque = nullptr});
}

}  // namespace tenon::inline v1
