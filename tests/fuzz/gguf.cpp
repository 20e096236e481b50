// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become tensors whose every block can be decoded, or one error.
#include <cstdint>
#include <cstdlib>

#include "files/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto file = files::read_gguf(std::as_bytes(std::span(data, size)), nullptr, "fuzz");
  if (!file) {
    if (file.error().code() == Code::internal) std::abort();
    return 0;
  }
  for (const files::GgufTensor& t : file->tensors) {
    if (!t.format->decode) continue;
    std::vector<float> numbers(t.bytes.size() / static_cast<size_t>(t.format->bytes) * static_cast<size_t>(t.format->elements));
    decode_blocks(*t.format, t.bytes, numbers);
  }
  for (const auto& [key, value] : file->metadata)
    if (!file->find(key)) std::abort();
  return 0;
}
