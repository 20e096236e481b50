// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become a checkpoint whose every value and block can be read, or one error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "files/gguf.h"

namespace {

void visit(const tenon::files::GgufValue& value) {
  if (value.type != tenon::files::GgufType::array) {
    (void)value.text();
    (void)value.number();
    return;
  }
  for (const auto& element : value.elements()) visit(element);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto file = files::read_gguf(std::as_bytes(std::span(data, size)), nullptr, "fuzz");
  if (!file) {
    const Diagnostic& d = *file.error();
    if (d.code == Code::internal || d.place.empty() || d.expected.empty() || d.found.empty()) std::abort();
    return 0;
  }
  for (const auto& entry : file->metadata) visit(entry.value);
  std::vector<float> row;
  for (const auto& tensor : file->tensors) {
    row.resize(static_cast<size_t>(tensor.count()));
    dequantize(*tensor.format, tensor.bytes, row);
    if (file->find_tensor(tensor.name) != &tensor) std::abort();
  }
  return 0;
}
