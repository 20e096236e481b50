// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Hash, IsXxh3OfTheSpecification) {
  EXPECT_EQ(hash128("").text(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash128("a"), hash128("b"));
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  const std::string text(100000, 'x');
  Hasher hasher;
  for (size_t at = 0; at < text.size(); at += 777) hasher.add(std::string_view(text).substr(at, 777));
  EXPECT_EQ(hasher.digest(), hash128(text));
}

}  // namespace
}  // namespace tenon
