// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: a graph in text form that is accepted runs on small inputs, or ends with one error.
#include "ir/text.h"
#include "ir/verify.h"
#include "run.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto graph = ir::parse(text, ops::table());
  if (graph && ir::verify(**graph)) fuzz::run(**graph, text);
  return 0;
}
