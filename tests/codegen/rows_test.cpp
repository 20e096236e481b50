// SPDX-License-Identifier: Apache-2.0
// Rows that are summed up by several registers side by side: every number counts once, whatever their length is.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "plan_run.h"

namespace tenon::codegen {
namespace {

/// Of two rows 1, 2, 3, ... and -1, -2, -3, ..., what `op` makes of each.
std::pair<double, double> of_rows(std::string_view op, int64_t length, std::string_view size, const Target& target, bool native) {
  const auto text = fmt::format("graph main(x: f32[2,{}]) {{ const a: i64[1] = [1] y = {}(x, a, keepdims=0) return y }}", size, op);
  const auto graph = ir::parse(text, ops::table());
  const auto planned = planned_graph(**graph, {}, target);
  EXPECT_TRUE(planned) << planned.error().text();
  Tensor x = *Tensor::make(DType::f32, {2, length});
  for (int64_t i = 0; i < length; ++i) x.set_number(i, static_cast<double>(i + 1)), x.set_number(length + i, -static_cast<double>(i + 1));
  const auto got = run(*planned, std::span(&x, 1), native);
  EXPECT_TRUE(got) << got.error().text();
  return {(*got)[0].number(0), (*got)[0].number(1)};
}

TEST(Rows, ReductionsCoverRowsOfAnyLength) {
  for (const Target& target : targets())
    for (const int64_t n : {1, 16, 63, 64, 127, 128, 129, 191, 200, 383, 384, 401})
      for (const std::string& size : {std::string("n"), std::to_string(n)})
        for (const bool native : {false, true}) {
          const auto last = static_cast<double>(n), sum = last * (last + 1) / 2;
          EXPECT_EQ(of_rows("ReduceSum", n, size, target, native), std::pair(sum, -sum)) << n << " " << size << " " << target.name;
          EXPECT_EQ(of_rows("ReduceMax", n, size, target, native), std::pair(last, -1.0)) << n << " " << size << " " << target.name;
        }
}

}  // namespace
}  // namespace tenon::codegen
