// SPDX-License-Identifier: Apache-2.0
#include "base/memory_place.h"

#include <fmt/format.h>

#include "base/tensor.h"

namespace tenon::inline base {

std::string text_of(const MemoryPlace& place) {
  return place.is_host() ? "host memory" : fmt::format("memory of device '{}' {}", place.device, place.number);
}

Result<void> check_on_host(const Tensor& t, std::string_view where) {
  if (t.holds_tensors()) {
    for (const Tensor& e : t.elements()) TRY(check_on_host(e, where));
    return {};
  }
  if (t.place().is_host()) return {};
  return fail(Code::not_supported, std::string(where), "not supported yet: a tensor outside of host memory here")
      .expected(text_of(MemoryPlace()))
      .found(text_of(t.place()))
      .advice("copy it to the host first");
}

}  // namespace tenon::inline base
