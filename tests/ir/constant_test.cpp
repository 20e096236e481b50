// SPDX-License-Identifier: Apache-2.0
#include "ir/constant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/literal.h"
#include "ir/quantized/grouped_constant.h"
#include "ir/quantized/storage.h"
#include "ir/uncast.h"

namespace tenon::ir {
namespace {

ConstantRef counting(Sizes shape, float first = 0) {
  std::vector<float> data(static_cast<size_t>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())));
  std::iota(data.begin(), data.end(), first);
  return constant_of(Tensor::of_f32(std::move(shape), data));
}

std::string made(const ConstantRef& c) {
  auto t = materialise(*c);
  return t ? elements_text(*t) : t.error().text();
}

/// Row-major coordinates of element `i`.
Sizes at(int64_t i, const Sizes& shape) {
  Sizes out(shape.size());
  for (size_t k = shape.size(); k-- > 0; i /= shape[k]) out[k] = i % shape[k];
  return out;
}

TEST(Constant, EachTensorVisitsItsSources) {
  const ConstantRef a = constant_of(*Tensor::make(DType::f32, {4, 6})), b = constant_of(*Tensor::make(DType::f32, {4, 2}));
  const ConstantRef factors = constant_of(*Tensor::make(DType::f32, {9}));
  const ConstantRef all = pack(permute(scale(cast(concat({slice(a, 1, 5, 0, -1), b, b}, 1), DType::f32), factors, 1), {1, 0}), 4);
  std::vector<const std::byte*> read;
  all->each_tensor([&](const Tensor& t) { read.push_back(t.data()); });
  for (const ConstantRef& c : {a, b, factors}) EXPECT_EQ(std::ranges::count(read, std::get<Tensor>(c->source).data()), c == b ? 2 : 1);
  EXPECT_EQ(read.size(), 4U);
}

TEST(Constant, HashesOfManyBytesDependOnEachOfThem) {
  const auto words = [](int64_t changed) {
    Tensor t = *Tensor::make(DType::i32, {900'000});  // several pieces
    if (changed >= 0) t.as_mutable<int32_t>()[static_cast<size_t>(changed)] = 1;
    return hash_of(t);
  };
  EXPECT_EQ(words(7), words(7));
  std::vector<size_t> hashes;
  for (const int64_t changed : {-1, 0, 262'143, 262'144, 524'288, 899'999}) hashes.push_back(words(changed));
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end());
}

TEST(Constant, StorageIsThatOfAllElements) {
  const auto blocks = [](const char* name) {
    const BlockFormat& format = *block_format_named(name);
    return decode_blocks(*Tensor::make(DType::u8, {4 * format.bytes}), format, {4, format.elements});
  };
  const ConstantRef a = blocks("Q4_0"), b = blocks("Q8_0"), f32 = counting({4, 32});
  const ConstantRef half = cast(constant_of(*Tensor::make(DType::f16, {4, 32})), DType::f32);
  const Storage of_a{.blocks = block_format_named("Q4_0")};
  EXPECT_EQ(storage_of(*permute(slice(concat({a, a}, 0), 0, 1, 3), {1, 0})), of_a);
  EXPECT_EQ(storage_of(*reshape(a, {2, 2, 32})), of_a);
  EXPECT_EQ(storage_of(*concat({a, b}, 0)), Storage{});
  EXPECT_EQ(storage_of(*concat({a, f32}, 0)), Storage{});
  EXPECT_EQ(storage_of(*f32), Storage{});
  EXPECT_EQ(storage_of(*permute(half, {1, 0})), Storage{.dtype = DType::f16});
}

TEST(Constant, SlicesWithStepsEitherWay) {
  auto c = counting({3, 4});
  EXPECT_EQ(made(slice(c, 1, 1, 4, 2)), "[1, 3, 5, 7, 9, 11]");
  EXPECT_EQ(made(slice(c, 0, 2, -1, -1)), "[8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]");
  EXPECT_EQ(made(slice(slice(c, 1, 3, 0, -1), 1, 1, 3)), "[2, 1, 6, 5, 10, 9]");
  EXPECT_EQ(made(slice(c, 1, 2, 2)), "[]");
}

TEST(Constant, SimplifiesWhatChangesNothing) {
  auto c = counting({2, 3, 4});
  EXPECT_EQ(slice(c, 1, 0, 3), c);
  EXPECT_EQ(permute(c, {0, 1, 2}), c);
  EXPECT_EQ(permute(permute(c, {2, 0, 1}), {1, 2, 0}), c);
  EXPECT_EQ(cast(c, DType::f32), c);
  EXPECT_EQ(concat({c}, 0), c);
  auto twice = permute(permute(c, {2, 0, 1}), {2, 1, 0});
  EXPECT_EQ(std::get<Constant::Permute>(twice->source).operand, c);
  EXPECT_TRUE(reshape(c, {24})->is_plain());
  EXPECT_EQ(reshape(reshape(permute(c, {2, 1, 0}), {24}), {4, 3, 2})->shape, (Sizes{4, 3, 2}));
}

TEST(Constant, SlicesOfLeadingAxesAreViews) {
  auto c = counting({5, 4});
  auto rows = slice(c, 0, 1, 3);
  ASSERT_TRUE(rows->is_plain());
  EXPECT_EQ(std::get<Tensor>(rows->source).data(), std::get<Tensor>(c->source).data() + 16);
  EXPECT_EQ(made(rows), "[4, 5, 6, 7, 8, 9, 10, 11]");
}

TEST(Constant, PermutesAnyOrder) {
  Sizes shape{3, 35, 2, 40};
  auto c = counting(shape);
  std::vector<int> order{0, 1, 2, 3};
  do {
    auto p = permute(c, order);
    Tensor t = *materialise(*p);
    for (int64_t i = 0; i < t.count(); ++i) {
      Sizes to = at(i, p->shape), from(4);
      for (size_t k = 0; k < 4; ++k) from[static_cast<size_t>(order[k])] = to[k];
      float expected = static_cast<float>(((from[0] * 35 + from[1]) * 2 + from[2]) * 40 + from[3]);
      ASSERT_EQ(t.as<float>()[static_cast<size_t>(i)], expected) << "order " << order[0] << order[1] << order[2] << order[3] << " at " << i;
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Constant, PacksPanelsPaddedWithZeros) {
  for (bool transposed : {false, true}) {
    int64_t k = 70, n = 37, panel = 16;
    auto stored = transposed ? permute(counting({2, n, k}, 1), {0, 2, 1}) : counting({2, k, n}, 1);
    auto packed = pack(stored, panel);
    EXPECT_EQ(packed->shape, (Sizes{2, 3, k, panel}));
    Tensor plain = *materialise(*stored), t = *materialise(*packed);
    for (int64_t i = 0; i < t.count(); ++i) {
      Sizes p = at(i, packed->shape);
      int64_t column = p[1] * panel + p[3];
      float expected = column < n ? plain.as<float>()[static_cast<size_t>((p[0] * k + p[2]) * n + column)] : 0.0f;
      ASSERT_EQ(t.as<float>()[static_cast<size_t>(i)], expected) << i << (transposed ? " transposed" : "");
    }
  }
}

TEST(Constant, PacksGroupsOfRowsSideBySide) {
  for (const auto& [dtype, group] : {std::pair(DType::bf16, int64_t{2}), {DType::i8, 4}, {DType::f32, 3}})
    for (bool transposed : {false, true}) {
      const int64_t k = 7, n = 5, panel = 4, groups = (k + group - 1) / group;
      const auto numbers = cast(transposed ? permute(counting({2, n, k}, 1), {0, 2, 1}) : counting({2, k, n}, 1), dtype);
      const auto packed = pack(numbers, panel, group);
      EXPECT_EQ(packed->shape, (Sizes{2, 2, groups, panel, group}));
      const Tensor plain = *materialise(*cast(numbers, DType::f32)), t = *materialise(*cast(packed, DType::f32));
      for (int64_t i = 0; i < t.count(); ++i) {
        const Sizes p = at(i, packed->shape);
        const int64_t row = p[2] * group + p[4], column = p[1] * panel + p[3];
        const float wanted = row < k && column < n ? plain.as<float>()[static_cast<size_t>((p[0] * k + row) * n + column)] : 0.0f;
        ASSERT_EQ(t.as<float>()[static_cast<size_t>(i)], wanted) << i << (transposed ? " transposed" : "");
      }
    }
}

TEST(Constant, ConcatenatesAlongAnyAxis) {
  auto a = counting({2, 2}), b = counting({2, 1}, 10);
  EXPECT_EQ(made(concat({a, b}, 1)), "[0, 1, 10, 2, 3, 11]");
  EXPECT_EQ(made(concat({a, permute(a, {1, 0})}, 0)), "[0, 1, 2, 3, 0, 2, 1, 3]");
}

TEST(Constant, CastsAsTheScalarLanguageDoes) {
  auto c = constant_of(Tensor::of_f32({5}, std::vector<float>{1.9f, -1.9f, 300.0f, -300.0f, NAN}));
  EXPECT_EQ(made(cast(c, DType::i8)), "[1, -1, 127, -128, 0]");
  EXPECT_EQ(made(cast(c, DType::u8)), "[1, 0, 255, 0, 0]");
  EXPECT_EQ(made(cast(c, DType::boolean)), "[true, true, true, true, true]");
  EXPECT_EQ(made(cast(cast(c, DType::bf16), DType::f32)), "[1.8984375, -1.8984375, 300, -300, nan]");
  auto big = constant_of(Tensor::of_i64({2}, std::vector<int64_t>{16777217, INT64_MIN}));
  EXPECT_EQ(made(cast(big, DType::f32)), "[16777216, -9.223372e+18]");
  EXPECT_EQ(made(cast(big, DType::i32)), "[16777217, 0]");
}

TEST(Constant, ScalesAlongAnAxisAndRoundsOnce) {
  auto c = counting({2, 3});
  auto f = constant_of(Tensor::of_f32({3}, std::vector<float>{1, 10, 100}));
  EXPECT_EQ(made(scale(c, f, 1)), "[0, 10, 200, 3, 40, 500]");
  EXPECT_EQ(made(scale(c, f, 1, true)), "[0, 0.1, 0.02, 3, 0.4, 0.05]");
}

TEST(Constant, MultipliesRowsAndRoundsOnce) {
  auto c = counting({2, 2, 2});
  Tensor f = *Tensor::make(DType::f64, {3, 2});
  for (int64_t i = 0; const double x : {1.0, 0.0, 1.0, -1.0, 0.5, 10.0}) f.set_number(i++, x);
  const ConstantRef factors = constant_of(std::move(f));
  const ConstantRef all = product(c, factors);
  EXPECT_EQ(all->shape, (Sizes{2, 2, 3}));
  EXPECT_EQ(made(all), "[0, -1, 10, 2, -1, 31, 4, -1, 52, 6, -1, 73]");
  EXPECT_EQ(made(permute(all, {2, 0, 1})), "[0, 2, 4, 6, -1, -1, -1, -1, 10, 31, 52, 73]");
  EXPECT_TRUE(same(*all, *product(c, factors)));
  Tensor big = *Tensor::make(DType::f64, {1, 3});
  for (int64_t i = 0; i < 3; ++i) big.set_number(i, 1);
  const auto cancels = constant_of(Tensor::of_f32({1, 3}, std::vector<float>{1e8F, 1, -1e8F}));
  EXPECT_EQ(made(product(cancels, constant_of(std::move(big)))), "[1]");
}

TEST(Constant, AddsAProductToAMatrix) {  // as LoRA changes a weight
  const ConstantRef w = counting({2, 3}), up = constant_of(Tensor::of_f32({2, 1}, std::vector<float>{1, -2}));
  const ConstantRef down = constant_of(Tensor::of_f32({1, 3}, std::vector<float>{1, 0, 10}));
  const ConstantRef both = sum(w, product(up, cast(permute(down, {1, 0}), DType::f64)));
  EXPECT_EQ(made(both), "[1, 1, 12, 1, 4, -15]");
  EXPECT_EQ(made(permute(slice(both, 0, 1, 2), {1, 0})), "[1, 4, -15]");
  EXPECT_TRUE(same(*both, *sum(w, product(up, cast(permute(down, {1, 0}), DType::f64)))));
  EXPECT_FALSE(same(*both, *sum(w, w)));
  int64_t tensors = 0;
  both->each_tensor([&](const Tensor&) { ++tensors; });
  EXPECT_EQ(tensors, 3);
}

TEST(Constant, HandlesTextAndHalfBytes) {
  auto s = constant_of(Tensor::of_strings({2, 2}, {"a", "b", "c", "d"}));
  EXPECT_EQ(made(permute(s, {1, 0})), "[\"a\", \"c\", \"b\", \"d\"]");
  EXPECT_EQ(made(concat({s, slice(s, 1, 0, 1)}, 1)), "[\"a\", \"b\", \"a\", \"c\", \"d\", \"c\"]");
  Tensor t = *Tensor::make(DType::i4, {3, 2});
  for (int64_t i = 0; i < 6; ++i) t.set_integer(i, i - 3);
  EXPECT_EQ(made(permute(constant_of(t), {1, 0})), "[-3, -1, 1, -2, 0, 2]");
  EXPECT_EQ(made(slice(constant_of(t), 0, 1, 3)), "[-1, 0, 1, 2]");
}

TEST(Constant, HandlesNothing) {
  auto c = counting({0, 4});
  EXPECT_EQ(made(permute(c, {1, 0})), "[]");
  EXPECT_EQ(made(pack(c, 8)), "[]");
  EXPECT_EQ(made(concat({c, counting({1, 4})}, 0)), "[0, 1, 2, 3]");
}

TEST(Constant, BytesThatWereNotReadAreAPlaceAlone) {
  const auto at = [](int64_t offset) { return reference_to({"w.bin", offset, 96, ""}, DType::f32, {4, 6}); };
  const auto c = at(64);
  EXPECT_EQ(c->unread()->offset, 64);
  EXPECT_EQ(c->tensor(), nullptr);
  EXPECT_TRUE(same(*c, *at(64)));
  EXPECT_FALSE(same(*c, *at(0)));
  EXPECT_FALSE(same(*c, *counting({4, 6})));
  EXPECT_TRUE(std::holds_alternative<Constant::Reference>(reshape(c, {24})->source));
  std::vector<std::byte> bytes(96);
  for (const ConstantRef& made : {c, slice(c, 0, 1, 3), permute(c, {1, 0}), concat({counting({1, 6}), c}, 0), cast(c, DType::f16),
                                  scale(c, counting({6}), 1), scale(counting({4, 24}), reshape(c, {24}), 1),
                                  product(c, constant_of(*Tensor::make(DType::f64, {2, 6}))), sum(counting({4, 6}), c), pack(c, 8)}) {
    EXPECT_EQ(made->unread()->location, "w.bin");
    const auto tensor = materialise(*made);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error().code(), Code::file_missing);
    bytes.resize(static_cast<size_t>(made->byte_size()));
    EXPECT_FALSE(materialise_into(*made, bytes));
  }
  EXPECT_EQ(counting({2})->unread(), nullptr);
}

TEST(Constant, ComparesByBytes) {
  auto a = counting({2, 3});
  EXPECT_TRUE(same(*a, *counting({2, 3})));
  EXPECT_FALSE(same(*a, *counting({3, 2})));
  EXPECT_TRUE(same(*slice(permute(a, {1, 0}), 1, 0, 1), *permute(slice(a, 0, 0, 1), {1, 0})));
}

TEST(Constant, EveryF16IsCastExactly) {
  Tensor all = *Tensor::make(DType::f16, {1 << 16});
  for (size_t i = 0; i < 1 << 16; ++i) all.as_mutable<uint16_t>()[i] = static_cast<uint16_t>(i);
  const Tensor wide = *materialise(*cast(constant_of(all), DType::f32));
  for (int64_t i = 0; i < all.count(); ++i) {
    const double want = all.number(i), got = wide.number(i);
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : want == got && std::signbit(want) == std::signbit(got)) << i << ": " << got;
  }
}

TEST(Constant, UncastLeavesOutTheCastAlone) {
  const auto narrow = [](DType dtype, Sizes shape) { return constant_of(*materialise(*cast(counting(std::move(shape)), dtype))); };
  const ConstantRef a = cast(narrow(DType::bf16, {4, 6}), DType::f32), b = cast(narrow(DType::bf16, {4, 2}), DType::f32);
  const ConstantRef all = reshape(permute(concat({slice(a, 1, 5, 0, -2), b}, 1), {1, 0}), {2, 10});
  const ConstantRef before = uncast(*all);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->dtype, DType::bf16);
  EXPECT_EQ(made(cast(before, DType::f32)), made(all));
  const ConstantRef half = cast(narrow(DType::f16, {4, 2}), DType::f32);
  EXPECT_EQ(uncast(*half)->dtype, DType::f16);
  for (const ConstantRef& other : {counting({4, 2}), concat({b, half}, 1), concat({b, counting({4, 2})}, 1), sum(b, b),
                                   cast(cast(b, DType::f64), DType::f32), cast(constant_of(*Tensor::make(DType::i8, {4})), DType::f32)})
    EXPECT_FALSE(uncast(*other)) << made(other);
}

TEST(Constant, CodesInGroupsAreBlocks) {
  EXPECT_EQ(block_of_group(384, 768), 128);
  EXPECT_EQ(block_of_group(512, 512), 256);
  EXPECT_EQ(block_of_group(16, 64), 0);
  EXPECT_EQ(block_of_group(64, 96), 0);
  GroupedCodes m{.rows = 3, .columns = 384, .group = 192, .scales = {1, 2, 4, 0.5F, 3, 1}, .zeros = {8, 3, 8, 0, 1, 8}};
  for (int64_t k = 0; k < m.rows * m.columns; ++k) m.codes.push_back(static_cast<uint8_t>(k * 7 % 16));
  const auto check = [](const GroupedCodes& given, std::string_view format) {
    const auto made = grouped_constant(given);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(storage_of(**made).blocks->name, format);
    EXPECT_EQ((*made)->shape, (Sizes{3, 384}));
    const Tensor values = *materialise(**made);
    for (int64_t k = 0; k < values.count(); ++k) {
      const auto group = static_cast<size_t>(k / 384 * 2 + k % 384 / 192);
      const float zero = given.zeros.empty() ? 8 : given.zeros[group];
      ASSERT_EQ(values.as<float>()[static_cast<size_t>(k)], (given.codes[static_cast<size_t>(k)] - zero) * given.scales[group]) << k;
    }
  };
  check(m, "G4_64_1");
  m.zeros.assign(6, 8);
  check(m, "G4_64_0");
  m.zeros.clear();
  check(m, "G4_64_0");
  m.scales[3] = std::numeric_limits<float>::infinity();
  const auto bad = grouped_constant(m);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error()->place, "row 1, group 1");
  EXPECT_EQ(transposed(std::vector<uint8_t>{1, 2, 3, 4, 5, 6}, 2, 3), (std::vector<uint8_t>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace tenon::ir
