// SPDX-License-Identifier: Apache-2.0
#include "cli/options/library_options.h"

#include "cli/options/table_options.h"

namespace tenon::cli {

void LibraryOptions::add_to(CLI::App& app) {
  add_table_option(app, "libraries.files", backend_libraries);
  add_table_option(app, "libraries.custom_ops", custom_ops);
}

Result<runtime::Libraries> LibraryOptions::libraries() const {
  runtime::Libraries out;
  out.custom_ops.assign(custom_ops.begin(), custom_ops.end());
  for (const std::string& text : backend_libraries) {
    const size_t split = text.find('=');
    if (split == text.npos || split == 0 || split + 1 == text.size())
      return fail(Code::bad_usage, "--backend-lib", "there is no NAME=FILE").expected("NAME=FILE").found(text);
    if (!out.files.emplace(text.substr(0, split), text.substr(split + 1)).second)
      return fail(Code::bad_usage, "--backend-lib", "the backend has two libraries")
          .expected("each name once")
          .found("'" + text.substr(0, split) + "' twice");
  }
  return out;
}

}  // namespace tenon::cli
