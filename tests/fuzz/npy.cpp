// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become arrays, which are written and read again, or one error.
#include <cstdint>
#include <cstdlib>

#include "files/npy.h"
#include "files/npz.h"

namespace {

void check(const tenon::Result<tenon::Tensor>& tensor) {
  using namespace tenon;
  if (!tensor) {
    if (tensor.error().code() == Code::internal) std::abort();
    return;
  }
  const std::string bytes = files::npy_bytes(*tensor);
  const auto again = files::read_npy(std::as_bytes(std::span(bytes)), nullptr, "again", {});
  if (!again || again->shape() != tensor->shape() || again->dtype() != tensor->dtype()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto bytes = std::as_bytes(std::span(data, size));
  const files::ArrayLimits limits{.tensor_bytes = 1 << 22};
  check(files::read_npy(bytes, nullptr, "fuzz", limits));
  if (const auto archive = files::read_npz(bytes, "fuzz", limits)) {
    for (const auto& [name, tensor] : *archive) check(tensor);
  }
  return 0;
}
