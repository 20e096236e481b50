// SPDX-License-Identifier: Apache-2.0
// What parses must verify, print, parse again and print the same. What parse() or parse_structure() accepts prints as text that
// parse_structure() accepts.
#include <cstdlib>

#include "../ir/fake_ops.h"
#include "ir/text.h"
#include "ir/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon::ir;
  static const fake::Table ops;
  if (auto structure = parse_structure({reinterpret_cast<const char*>(data), size}, ops);
      structure && !parse_structure(print(**structure), ops))
    std::abort();
  auto graph = parse({reinterpret_cast<const char*>(data), size}, ops);
  if (!graph) return 0;
  if (!verify(**graph)) std::abort();
  if (!parse_structure(print(**graph), ops)) std::abort();
  TextConstants big;
  std::string once = print(**graph, &big);
  auto again = parse(once, ops, &big);
  if (!again) std::abort();
  TextConstants second;
  if (print(**again, &second) != once) std::abort();
  return 0;
}
