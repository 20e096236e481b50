// SPDX-License-Identifier: Apache-2.0
#include "tile_run.h"

#include <cmath>
#include <limits>
#include <random>

namespace tenon::codegen {

Data random_data(DType dtype, int64_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, 3);
  static constexpr double edges[] = {0.0,  -0.0, 1,     -1,    INFINITY, -INFINITY,    NAN,   0.5,   2.5,
                                     -3.5, 1e30, 1e-30, 65504, 65520,    2147483648.0, -1e19, 1e-45, 255};
  Data data(dtype, count);
  for (int64_t i = 0; i < count; ++i) {
    Scalar v;
    if (is_float(dtype)) v = rounded(dtype, {random() % 4 == 0 ? edges[random() % std::size(edges)] : normal(random), 0});
    else v.integer = random() % 4 == 0 ? static_cast<int64_t>(random()) : static_cast<int64_t>(random() % 9) - 4;
    if (!is_float(dtype) && random() % 16 == 0) v.integer = std::numeric_limits<int64_t>::min() >> (64 - bits_of(dtype));
    data.set(i, v);
  }
  return data;
}

namespace {

bool close(DType d, Scalar a, Scalar b, double ulps) {
  if (!is_float(d)) return a.integer == b.integer;
  if (std::isnan(a.number) || std::isnan(b.number)) return std::isnan(a.number) && std::isnan(b.number);
  if (a.number == b.number) return std::signbit(a.number) == std::signbit(b.number);
  if (std::isinf(a.number) || std::isinf(b.number)) return false;
  const int digits = d == DType::f64 ? 53 : d == DType::f32 ? 24 : d == DType::f16 ? 11 : 8;
  const int least = d == DType::f64 ? -1022 : d == DType::f16 ? -14 : -126;
  return std::fabs(a.number - b.number) <= ulps * std::ldexp(1.0, std::max(std::ilogb(a.number), least) - digits + 1);
}

}  // namespace

void expect_same(const TileKernel& kernel, const Target& target, const std::vector<Data>& data, std::span<const int64_t> sizes,
                 int64_t begin, int64_t end, double ulps) {
  std::vector<Data> wanted = data, got = data;
  std::vector<BoundBuffer> bound;
  std::vector<void*> raw;
  for (Data& d : wanted) bound.push_back({d.bytes.data(), d.count});
  for (Data& d : got) raw.push_back(d.bytes.data());
  const auto done = interpret(kernel, bound, sizes, begin, end);
  ASSERT_TRUE(done) << done.error().text() << "\n" << text_of(kernel);
  const MachineCode machine = emitted(kernel, target);
  ASSERT_FALSE(machine.bytes.empty());
  Loaded(machine).run(0, kernel, raw, sizes, begin, end);
  for (size_t b = 0; b < data.size(); ++b)
    for (int64_t i = 0; i < data[b].count; ++i) {
      const Scalar w = wanted[b].get(i), g = got[b].get(i);
      ASSERT_TRUE(close(data[b].dtype, w, g, ulps))
          << target.name << " " << kernel.name << ": buffer " << b << " " << tenon::name_of(data[b].dtype) << "[" << i << "] wanted "
          << w.number << " / " << w.integer << ", got " << g.number << " / " << g.integer << "\n"
          << (data[b].count < 600 ? text_of(kernel).substr(0, 4000) : "");
    }
}

}  // namespace tenon::codegen
