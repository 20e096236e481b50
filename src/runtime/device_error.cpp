// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_error.h"

#include <fmt/format.h>

namespace tenon::runtime {

Error backend_error(Error error, std::string_view backend, std::string place) {
  if (place.empty()) place = fmt::format("backend '{}'", backend);
  if (error.code() != Code::device_failed) return std::move(error).at(std::move(place));
  const auto first_nonempty = [](const std::string& text, std::string otherwise) { return text.empty() ? otherwise : text; };
  return fail(error.code(), first_nonempty(error->place, std::move(place)), error->what)
      .expected(first_nonempty(error->expected, "a backend that does what it offers"))
      .found(first_nonempty(error->found, fmt::format("backend '{}' failed", backend)))
      .advice(first_nonempty(error->advice, "leave the backend out, or give its nodes to another: --pin, --fallback-ops"));
}

Error broken_promise(Code code, std::string place, std::string what) {
  return fail(code, std::move(place), std::move(what))
      .advice("`tenon compare MODEL --by-segment` shows which backend is wrong: leave it out, or give its nodes to another (--pin)");
}

}  // namespace tenon::runtime
