// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any bytes become a table of programs whose numbers are all in range, which is written and read again and laid
// out in memory, or one error: by both decoders.
#include <cstdint>
#include <cstdlib>

#include "runtime/program_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  for (const auto decode : {runtime::decode, runtime::decode_nested}) {
    const auto table = decode(given);
    if (!table) {
      if (table.error().code() == Code::internal) std::abort();
      continue;
    }
    const std::string bytes = runtime::encode(*table);
    const auto again = runtime::decode(bytes);
    if (!again || runtime::encode(*again) != bytes) std::abort();
    std::vector<std::vector<int64_t>> shapes;
    for (const runtime::PortInfo& port : (*table)[0].inputs) shapes.push_back(port.lower);
    (void)runtime::planned_bytes(*table, shapes);
  }
  return 0;
}
