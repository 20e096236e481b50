// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tenon::runtime {
namespace {

/// What the system says of the mapping that holds `place`, "VmFlags" among it.
std::string mapping_of(const std::byte* place) {
  std::ifstream maps("/proc/self/smaps");
  std::string line, out;
  for (bool inside = false; std::getline(maps, line);) {
    uint64_t from = 0, to = 0;
    char dash = 0;
    if (std::istringstream range(line); range >> std::hex >> from >> dash >> to && dash == '-')
      inside = from <= reinterpret_cast<uintptr_t>(place) && reinterpret_cast<uintptr_t>(place) < to;
    if (inside) out += line + "\n";
  }
  return out;
}

TEST(Block, BeginsAtAHugePageAndRequestsThem) {
  Block block;
  const uint64_t bytes = 3 * Block::kHugePage + 5000;
  const auto data = block.reserve(bytes);
  ASSERT_TRUE(data) << data.error().text();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*data) % Block::kHugePage, 0u);
  EXPECT_TRUE(std::all_of(*data, *data + bytes, [](std::byte b) { return b == std::byte(0); }));
  std::fill(*data, *data + bytes, std::byte(1));
  if (std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    EXPECT_NE(mapping_of(*data).find(" hg"), std::string::npos) << mapping_of(*data);
  }
}

TEST(Block, OfAFewPagesRequestsNoHugePage) {
  Block block;
  const auto data = block.reserve(5000);
  ASSERT_TRUE(data) << data.error().text();
  std::fill(*data, *data + 5000, std::byte(1));
  EXPECT_EQ(mapping_of(*data).find(" hg"), std::string::npos);
}

TEST(Block, FreesAllOfIt) {
  const auto size = [] {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * 4096;
  };
  const uint64_t before = size();
  for (int turn = 0; turn < 64; ++turn) {
    Block block;
    ASSERT_TRUE(block.reserve(4 * Block::kHugePage));
  }
  EXPECT_LT(size(), before + 64 * Block::kHugePage);
}

}  // namespace
}  // namespace tenon::runtime
