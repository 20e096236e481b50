// SPDX-License-Identifier: Apache-2.0
#include "program/size_table.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::tests {
namespace {

using program::SizeTable;
using runtime::PortInfo;
using runtime::Program;
using runtime::SizeLine;

struct SizeTableTest : testing::Test {
  Symbols symbols;
  Dim n = symbols.symbol("n"), m = symbols.symbol("m"), u = symbols.symbol("u");
  SizeTable table;
  Program program;

  /// n and m are the dimensions of input 0; u is bound by step 2.
  void SetUp() override {
    table.bind_to_input(n.node(), 0, 0);
    table.bind_to_input(m.node(), 0, 1);
    table.bind_to_step(u.node(), 2);
    PortInfo x;
    x.shape = {0, 0};
    program.inputs = {x};
  }
  int64_t value(Dim dim, int64_t n_value, int64_t m_value) {
    std::vector<int64_t> values;
    const std::vector<std::vector<int64_t>> shapes = {{n_value, m_value}};
    EXPECT_TRUE(runtime::evaluate_sizes(program, 0, program.input_lines, {shapes, {}}, values));
    return values[table.slot(dim)];
  }
};

TEST_F(SizeTableTest, SlotHoldsValueOfDimension) {
  const std::vector<Dim> dims = {Dim(7),
                                 n,
                                 n + m,
                                 3 * n * m - 2 * n + 1,
                                 n * n * n,
                                 floor_div(n + 5, 4),
                                 ceil_div(n * m, 8),
                                 mod(n, 3),
                                 min(n, m),
                                 max(n, 2 * m),
                                 select(less_than(n, m), n, m),
                                 equal_to(n, m),
                                 -1 * n,
                                 floor_div(min(n, m), 2) * 6};
  for (Dim d : dims) table.request(d);
  ASSERT_TRUE(table.finish(program));
  for (auto [a, b] : {std::pair<int64_t, int64_t>{1, 1}, {5, 3}, {17, 100}, {64, 64}, {0, 9}})
    for (Dim d : dims) {
      const Dim expected = substitute(d, [&, a = a, b = b](const DimNode& s) { return Dim(s.name == "n" ? a : b); });
      ASSERT_TRUE(expected.is_number()) << d.text();
      EXPECT_EQ(value(d, a, b), expected.value()) << d.text() << " for n = " << a << ", m = " << b;
    }
}

TEST_F(SizeTableTest, ComputesEqualDimsOnce) {
  for (Dim d : {n * m, m * n, n * m + 0, n, m}) table.request(d);
  ASSERT_TRUE(table.finish(program));
  EXPECT_EQ(table.slot(n * m), table.slot(m * n));
  size_t products = 0;
  for (const SizeLine& l : program.sizes) products += l.kind == SizeLine::Kind::multiply;
  EXPECT_EQ(products, 1u);
}

TEST_F(SizeTableTest, HasOperandsBeforeTheirLine) {
  for (Dim d : {floor_div(n * m + 3, 5) * u, min(n, u), u * u + m}) table.request(d);
  ASSERT_TRUE(table.finish(program));
  for (uint32_t k = 0; k < program.sizes.size(); ++k) {
    const SizeLine& l = program.sizes[k];
    if (l.kind == SizeLine::Kind::constant || l.kind == SizeLine::Kind::input_dimension || l.kind == SizeLine::Kind::bound) continue;
    EXPECT_LT(std::max(l.a, l.b), k);
  }
}

TEST_F(SizeTableTest, PutsDataDependentLinesAfterInputLines) {
  for (Dim d : {n + 1, 2 * u, u + n}) table.request(d);
  ASSERT_TRUE(table.finish(program));
  EXPECT_LT(table.slot(n + 1), program.input_lines);
  EXPECT_GE(table.slot(2 * u), program.input_lines);
  EXPECT_GE(table.slot(u + n), program.input_lines);
  EXPECT_LE(table.lines_before(2), program.input_lines) << "step 2 binds u itself";
  EXPECT_EQ(table.lines_before(3), program.sizes.size());
}

TEST_F(SizeTableTest, RefusesASymbolWithoutOrigin) {
  table.request(n + symbols.symbol("lost"));
  auto done = table.finish(program);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::not_supported);
  EXPECT_NE(done.error().text().find("lost"), std::string::npos) << done.error().text();
}

TEST_F(SizeTableTest, RefusesASizeThatOverflows) {
  Dim huge = n;
  for (int k = 0; k < 5; ++k) huge = huge * (int64_t{1} << 40);
  table.request(huge);
  auto done = table.finish(program);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::size_overflow);
}

}  // namespace
}  // namespace tenon::tests
