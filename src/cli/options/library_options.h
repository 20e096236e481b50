// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/libraries.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// --backend-lib NAME=FILE: where the library of a backend is. --custom-ops LIB: more ops for it.
struct LibraryOptions {
  std::vector<std::string> backend_libraries, custom_ops;

  void add_to(CLI::App& app);
  /// The parsed libraries. Errors: bad_usage for a value that is not NAME=FILE, or a name that is given twice.
  Result<runtime::Libraries> libraries() const;
};

}  // namespace tenon::cli
