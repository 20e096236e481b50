// SPDX-License-Identifier: Apache-2.0
// Sizes within bounds: what is said of the values that cross borders holds in every run.
#include <gtest/gtest.h>

#include <random>

#include "backend/work.h"
#include "helpers.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

/// Sizes that are sums, products, halves, largest and least ones of others; each value is a result.
constexpr std::string_view kText = R"(graph main(x: f32[batch,seq,4], past: f32[batch,before,4]) {
  const half: i64[1] = [2]
  const from: i64[1] = [0]
  const far: i64[1] = [9]
  const one: i64[1] = [1]
  const flat: i64[2] = [-1, 4]
  const pads: i64[6] = [0, 1, 0, 0, 2, 0]
  const reach: i64[1] = [20]
  all = Concat(past, x, axis=1)
  every = Slice(all, from, reach, one, half)
  few = Slice(x, from, far, one)
  wide = Pad(x, pads)
  rows = Reshape(all, flat)
  turned = Transpose(wide, perm=[0,2,1])
  product = MatMul(all, turned)
  pooled = MaxPool(turned, kernel_shape=[3], strides=[2], ceil_mode=1)
  return all, every, few, wide, rows, turned, product, pooled
})";

TEST(Intervals, ValuesAtBordersLieInThem) {
  const auto graph = *ir::parse(kText, ops::table());
  const std::map<std::string, std::pair<int64_t, int64_t>> bounds = {{"batch", {1, 3}}, {"seq", {2, 40}}, {"before", {0, 7}}};
  for (const auto& [name, range] : bounds) graph->symbols().symbol(name, range.first, range.second);
  std::mt19937_64 draw(7);
  for (int run = 0; run < 1000; ++run) {
    std::map<std::string, int64_t> size;
    for (const auto& [name, range] : bounds) {
      const bool extreme = draw() % 4 == 0;
      size[name] = extreme ? (draw() % 2 ? range.first : range.second)
                           : range.first + static_cast<int64_t>(draw() % static_cast<uint64_t>(range.second - range.first + 1));
    }
    const Tensor inputs[] = {*Tensor::make(DType::f32, {size["batch"], size["seq"], 4}),
                             *Tensor::make(DType::f32, {size["batch"], size["before"], 4})};
    const auto results = ops::evaluate(*graph, inputs);
    ASSERT_TRUE(results) << results.error().text();
    for (size_t k = 0; k < results->size(); ++k) {
      const ir::Type& type = graph->value(graph->outputs()[k]).type;
      const Tensor& result = (*results)[k];
      for (int d = 0; d < result.rank(); ++d) {
        ASSERT_GE(result.shape()[static_cast<size_t>(d)], type.dim(d).lower()) << k << " " << type.text();
        ASSERT_LE(result.shape()[static_cast<size_t>(d)], type.dim(d).upper()) << k << " " << type.text();
      }
      ASSERT_TRUE(backend::max_bytes(type)) << type.text();
      ASSERT_LE(result.byte_size(), *backend::max_bytes(type));
    }
  }
}

}  // namespace
}  // namespace tenon::compiler
