// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become the blob of a kernel backend, which is written and read again, or one error. Nothing is run: code is
// code.
#include <cstdint>
#include <cstdlib>

#include "runtime/kernel_blob/kernel_blob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto blob = runtime::decode_kernel_blob({reinterpret_cast<const char*>(data), size});
  if (!blob) {
    if (blob.error().code() == Code::internal) std::abort();
    return 0;
  }
  const std::string bytes = runtime::encode(*blob);
  const auto again = runtime::decode_kernel_blob(bytes);
  if (!again || runtime::encode(*again) != bytes) std::abort();
  return 0;
}
