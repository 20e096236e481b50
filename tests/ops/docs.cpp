// SPDX-License-Identifier: Apache-2.0
// The column "runs as" of docs/ops.md agrees with the classes of the loop forms of the ops' samples.
#include <gtest/gtest.h>

#include <fstream>

#include "ops/core/sample.h"

namespace tenon::ops {
namespace {

/// The highest class (map < row < contract) of any loop of any sample; none where no sample has a loop form.
std::string form_class(const OpDef& def) {
  constexpr std::string_view kNames[] = {"map", "row", "contract"};
  int widest = -1;
  for (std::string_view text : def.samples) {
    auto sample = parse_sample(def, text);
    auto made = sample ? build_sample(def, *sample, 1) : std::unexpected(sample.error());
    auto form = made ? def.loop_form(made->graph->view(made->node)) : std::unexpected(made.error());
    if (!form) continue;
    for (const Loop& loop : form->loops) widest = std::max(widest, static_cast<int>(class_of(loop)));
  }
  return widest < 0 ? "" : std::string(kNames[widest]);
}

std::string runs_as(const OpDef& def) {
  if (def.loop_form) return form_class(def);
  if (def.definition) return "definition";
  return def.control != Control::none ? "control" : "reference";
}

TEST(OpsPage, RunsAsColumnMatchesTheLoopForms) {
  std::ifstream file(TENON_TEST_DATA "/../../docs/ops.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(page.empty());
  for (const OpDef* def : all_ops()) {
    const std::string name = (def->domain.empty() ? "" : std::string(def->domain) + "::") + std::string(def->name);
    const size_t row = page.find("| [" + name + "](");
    ASSERT_NE(row, page.npos) << name << " is missing; ./dev docs writes the page";
    const size_t cell = page.find(") | ", row) + 4;
    EXPECT_EQ(page.substr(cell, page.find(' ', cell) - cell), runs_as(*def)) << name;
  }
}

}  // namespace
}  // namespace tenon::ops
