// SPDX-License-Identifier: Apache-2.0
#include "backend_files.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tenon_python {

namespace nb = nanobind;

tenon::BackendLibraries libraries_of(const BackendFiles& files, const Files& custom_ops) {
  tenon::BackendLibraries out{.files = files, .packages = {}, .custom_ops = custom_ops};
  for (const nb::handle folder : nb::module_::import_("sys").attr("path"))
    if (std::string text; nb::try_cast(folder, text) && !text.empty()) out.packages.emplace_back(text);
  return out;
}

}  // namespace tenon_python
