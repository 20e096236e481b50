// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a model that is accepted runs on small inputs, or ends with one error.
#include "import/onnx_import.h"
#include "run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  import::ImportOptions options;
  options.limits = {.nodes = 2'000, .values = 5'000, .graph_depth = 6, .function_depth = 16, .tensor_bytes = 1 << 20};
  auto imported = import::import_onnx(std::as_bytes(std::span(data, size)), nullptr, options);
  if (imported) fuzz::run(*imported->graph, std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
