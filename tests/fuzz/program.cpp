// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become a program whose numbers all point at something, which is written and read again and laid out in
// memory, or one error.
#include <cstdint>
#include <cstdlib>

#include "runtime/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const auto program = runtime::decode({reinterpret_cast<const char*>(data), size});
  if (!program) {
    if (program.error().code() == Code::internal) std::abort();
    return 0;
  }
  const std::string bytes = runtime::encode(*program);
  const auto again = runtime::decode(bytes);
  if (!again || runtime::encode(*again) != bytes) std::abort();
  std::vector<std::vector<int64_t>> shapes;
  for (const runtime::PortInfo& port : program->inputs) shapes.push_back(port.lower);
  std::vector<int64_t> sizes;
  if (runtime::evaluate_sizes(*program, 0, program->input_lines, {shapes, {}}, sizes)) (void)runtime::lay_out(*program, sizes);
  return 0;
}
