// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/sampling_options.h"

#include <cmath>
#include <string>

namespace tenon::llm {

Result<void> check(const SamplingOptions& o) {
  struct Range {
    const char* name;
    double value;
    bool is_inside;
    const char* expected;
  };
  const Range ranges[] = {
      {"repetition_penalty", o.repetition_penalty, o.repetition_penalty > 0, "a number above 0"},
      {"presence_penalty", o.presence_penalty, true, "a number"},
      {"frequency_penalty", o.frequency_penalty, true, "a number"},
      {"temperature", o.temperature, o.temperature >= 0, "0 (greedy) or more"},
      {"top_k", static_cast<double>(o.top_k), o.top_k >= 0, "0 (all) or more"},
      {"top_p", o.top_p, o.top_p > 0 && o.top_p <= 1, "above 0, at most 1 (all)"},
      {"min_p", o.min_p, o.min_p >= 0 && o.min_p <= 1, "0 (all) to 1"},
  };
  for (const Range& range : ranges)
    if (!std::isfinite(range.value) || !range.is_inside)
      return fail(Code::bad_usage, range.name, "a sampling option is out of its range")
          .expected(range.expected)
          .found(std::to_string(range.value));
  return {};
}

}  // namespace tenon::llm
