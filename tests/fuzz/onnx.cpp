// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes either become a valid graph, which is exported and read again, or one error.
#include <cstdint>
#include <cstdlib>

#include "import/onnx_export.h"
#include "import/onnx_import.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  import::ImportOptions options;
  options.limits = {.nodes = 20'000, .values = 50'000, .graph_depth = 6, .function_depth = 16, .tensor_bytes = 16 << 20};
  auto imported = import::import_onnx(std::as_bytes(std::span(data, size)), nullptr, options);
  if (!imported) {
    if (imported.error().code() == Code::internal) std::abort();
    return 0;
  }
  if (!ir::verify(*imported->graph)) std::abort();
  auto bytes = import::export_onnx_bytes(*imported->graph);
  if (!bytes) {
    if (bytes.error().code() == Code::internal) std::abort();
    return 0;
  }
  auto again = import::import_onnx(std::as_bytes(std::span(*bytes)), nullptr, {});
  if (!again && again.error().code() == Code::bad_file) std::abort();
  return 0;
}
