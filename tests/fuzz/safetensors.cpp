// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become tensors whose every byte can be read, or one error.
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "base/hash.h"
#include "files/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto file = files::read_safetensors(bytes, nullptr, "fuzz");
  if (!file) {
    if (file.error().code() == Code::internal) std::abort();
    return 0;
  }
  Hasher hasher;
  for (const auto& entry : file->entries) {
    hasher.add(std::span(entry.tensor.data(), static_cast<size_t>(entry.tensor.byte_size())));
    if (file->find(entry.name) == nullptr) std::abort();
  }
  return hasher.digest() == Hash128{} ? 1 : 0;
}
