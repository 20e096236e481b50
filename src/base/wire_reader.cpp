// SPDX-License-Identifier: Apache-2.0
#include "base/wire_reader.h"

namespace tenon::inline base {

Error damaged_fields(std::string_view section, std::string_view what, std::string found) {
  return fail(Code::bad_file, std::string(section), std::string(what))
      .expected("numbered fields")
      .found(std::move(found))
      .advice("build the engine again");
}

}  // namespace tenon::inline base
