// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace tenon::inline v1 {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::bad_file: return "bad_file";
    case Code::file_missing: return "file_missing";
    case Code::file_unsafe: return "file_unsafe";
    case Code::limit_exceeded: return "limit_exceeded";
    case Code::size_overflow: return "size_overflow";
    case Code::bad_graph: return "bad_graph";
    case Code::bad_attribute: return "bad_attribute";
    case Code::shape_mismatch: return "shape_mismatch";
    case Code::dtype_mismatch: return "dtype_mismatch";
    case Code::rank_mismatch: return "rank_mismatch";
    case Code::axis_out_of_range: return "axis_out_of_range";
    case Code::index_out_of_range: return "index_out_of_range";
    case Code::bad_input: return "bad_input";
    case Code::bad_rule: return "bad_rule";
    case Code::write_failed: return "write_failed";
    case Code::out_of_memory: return "out_of_memory";
    case Code::wrong_target: return "wrong_target";
    case Code::cancelled: return "cancelled";
    case Code::deadline: return "deadline";
    case Code::device_failed: return "device_failed";
    case Code::bad_usage: return "bad_usage";
    case Code::not_supported: return "not_supported";
    case Code::internal: return "internal";
  }
  return "unknown";
}

}  // namespace tenon::inline v1

namespace tenon::inline base {

int exit_code_of(Code code) {
  const int group = static_cast<int>(code) / 100;
  return group == 7 ? 70 : group;
}

std::string Diagnostic::text() const {
  std::string out = "error[TN" + std::to_string(static_cast<int>(code)) + "]";
  if (!place.empty()) out += " at " + place;
  out += ": " + what;
  if (!expected.empty()) out += "\n  expected: " + expected;
  if (!found.empty()) out += "\n  found:    " + found;
  if (!advice.empty()) out += "\n  try:      " + advice;
  return out;
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tenon: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace tenon::inline base
