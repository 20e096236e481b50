// SPDX-License-Identifier: Apache-2.0
// What parses must verify, print, parse again and print the same. Whatever parses, or has an outline, prints to what has an outline.
#include <cstdlib>

#include "../ir/fake_ops.h"
#include "ir/text.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon::ir;
  static const fake::Table ops;
  if (auto outline = parse_outline({reinterpret_cast<const char*>(data), size}, ops); outline && !parse_outline(print(**outline), ops))
    std::abort();
  auto graph = parse({reinterpret_cast<const char*>(data), size}, ops);
  if (!graph) return 0;
  if (!verify(**graph)) std::abort();
  if (!parse_outline(print(**graph), ops)) std::abort();
  TextConstants big;
  std::string once = print(**graph, &big);
  auto again = parse(once, ops, &big);
  if (!again) std::abort();
  TextConstants second;
  if (print(**again, &second) != once) std::abort();
  return 0;
}
