// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "runtime/program.h"

namespace tenon::runtime {

namespace {

/// "n = 3", and a number as itself.
std::string sized(const std::string& text, int64_t value) {
  const std::string number = std::to_string(value);
  return text == number ? number : fmt::format("{} = {}", text, number);
}

Error broken(const Guard& g, int64_t a, int64_t b) {
  return fail(Code::shape_mismatch, g.where, g.what)
      .expected(text_of(g.kind, g.a_text, g.b_text))
      .found(sized(g.a_text, a) + " and " + sized(g.b_text, b))
      .advice("give inputs whose sizes fit each other");
}

Slot known_with(const Guard& g) { return std::max(g.a, g.b); }

}  // namespace

Result<void> check_guards(const Program& program, uint32_t from, uint32_t to, const std::vector<int64_t>& values) {
  for (auto g = std::ranges::lower_bound(program.guards, from, {}, known_with); g != program.guards.end() && known_with(*g) < to; ++g)
    if (!holds(g->kind, values[g->a], values[g->b])) return broken(*g, values[g->a], values[g->b]);
  return {};
}

}  // namespace tenon::runtime
