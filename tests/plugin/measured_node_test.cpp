// SPDX-License-Identifier: Apache-2.0
// What an engine keeps of what was measured of plugins.
#include "plugin/measured_node.h"

#include <gtest/gtest.h>

namespace tenon::plugin {
namespace {

std::vector<MeasuredNode> two_nodes() {
  return {{.plugin = "acme::Conv",
           .node = "node 'a'",
           .call = "acme::Conv(f32[2])",
           .nodes = 3,
           .candidates = {{"tactic 0, row-major", 60'000, ""},
                          {"tactic 1 (blocked), channels-last", 1200, ""},
                          {"tactic 2, row-major", {}, "it crashed"}},
           .chosen = 1,
           .note = ""},
          {.plugin = "acme::Draw", .node = "node 'b'", .call = "", .nodes = 1, .candidates = {}, .chosen = 0, .note = "not measured"}};
}

TEST(MeasuredNode, TextNamesTheChosenAndTheNextCandidate) {
  const auto nodes = two_nodes();
  EXPECT_EQ(nodes[0].text(), "tactic 1 (blocked), channels-last: 1.2 us, compared with tactic 0, row-major: 60.0 us");
  EXPECT_EQ(nodes[1].text(), "not measured");
  EXPECT_EQ(time_text(12'345'678), "12.35 ms");
}

TEST(MeasuredNode, ReadsBackAndRefusesDamage) {
  const std::string bytes = encode(two_nodes());
  const auto again = decode_measured(bytes);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(encode(*again), bytes);
  EXPECT_EQ((*again)[0].text(), two_nodes()[0].text());
  EXPECT_EQ((*again)[0].candidates[2].dropped, "it crashed");
  auto wrong = two_nodes();
  wrong[0].chosen = 3;
  EXPECT_FALSE(decode_measured(encode(wrong)));
  wrong = two_nodes();
  wrong[0].candidates[0].ns = 0x1p54;
  EXPECT_FALSE(decode_measured(encode(wrong)));
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      if (const auto read = decode_measured(damaged))
        for (const MeasuredNode& n : *read) (void)n.text();  // no crash
    }
  for (size_t size = 0; size < bytes.size(); ++size) (void)decode_measured(std::string_view(bytes).substr(0, size));
}

}  // namespace
}  // namespace tenon::plugin
