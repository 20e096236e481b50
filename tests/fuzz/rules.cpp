// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: any text is a list of rules or one error; what is read is run on a small graph, which stays valid.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "rewrite/compile/rules_file.h"
#include "rewrite/driver/driver.h"

namespace {

constexpr std::string_view kGraph = R"(graph main(x: f32[b,4], y: f32[b,4], c: bool[b,4]) {
  const half: f32[] = [0.5]
  const one: f32[4] = [1, 1, 1, 1]
  const s: i64[2] = [0, -1]
  a = Mul(x, half)
  d = Add(a, one)
  e = Erf(d)
  f = Mul(e, d)
  t = Transpose(f, perm=[1,0])
  u = Transpose(t, perm=[1,0])
  m = Max(u, half, y)
  k = Concat(m, x, y, axis=1)
  r = Reshape(k, s)
  w = Where(c, x, y)
  n = Neg(w)
  o = Neg(n)
  return r, o, e
}
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tenon;
  auto rules = rewrite::read_rules({reinterpret_cast<const char*>(data), size}, "fuzz", ops::table());
  if (!rules) {
    if (rules.error().code() == Code::internal || rules.error()->place.empty()) std::abort();
    return 0;
  }
  auto graph = ir::parse(kGraph, ops::table());
  if (!graph) std::abort();
  rewrite::Options options;
  options.allowed = rewrite::Numerics::approximate;
  options.repeats = 8;
  options.stop_after = 100;
  auto done = rewrite::rewrite(**graph, rewrite::RuleSet(std::move(*rules), ops::table()), options);
  if (!done || !ir::verify(**graph)) std::abort();
  return 0;
}
