// SPDX-License-Identifier: Apache-2.0
// Runs each planning pass on plans as text: tests/codegen/passes/PASS.plan holds cases of that pass.
//
//   case: what the pass does
//   target: x86_avx2             the one whose limits hold; x86_avx512 where it is left out
//   graph:                       whose plan `in` is, before the pass runs; left out where the plan is written by hand
//     graph main(...) { ... }
//   in:
//     plan ...
//   out:                         or `same: why the pass leaves this plan alone`
//     plan ...
//
// To write a case, leave out `in` and `out` and run this with TENON_REWRITE=1: it plans the graph up to the pass and writes both. With
// `in` there, it writes `out` anew. Look at the difference before you commit it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "../../segments.h"
#include "codegen/passes/pipeline.h"
#include "codegen/plan/text.h"
#include "codegen/text/parse_plan.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

struct PassCase {
  std::string title, target = "x86_avx512", why = {}, graph = {}, in = {}, out = {};
  bool same = false;
};

struct PassFile {
  std::filesystem::path path;
  std::string head;  ///< comments before the first case
  std::vector<PassCase> cases;

  std::string pass() const { return path.stem().string(); }
};

PassFile read_file(const std::filesystem::path& path) {
  PassFile out{path, "", {}};
  std::ifstream file(path);
  std::string* into = &out.head;
  for (std::string line; std::getline(file, line);) {
    const auto value = [&](std::string_view key) { return line.size() > key.size() ? line.substr(key.size() + 1) : ""; };
    if (line.starts_with("case:")) into = &out.cases.emplace_back(PassCase{.title = value("case:")}).graph;
    else if (out.cases.empty()) out.head += line + "\n";
    else if (line.starts_with("target:")) out.cases.back().target = value("target:");
    else if (line.starts_with("graph:")) into = &out.cases.back().graph;
    else if (line.starts_with("in:")) into = &out.cases.back().in;
    else if (line.starts_with("out:")) into = &out.cases.back().out;
    else if (line.starts_with("same:")) out.cases.back().same = true, out.cases.back().why = value("same:");
    else if (!line.empty()) *into += line + "\n";
  }
  return out;
}

std::string text_of(const PassFile& file) {
  std::string out = file.head;
  for (const PassCase& c : file.cases) {
    out += fmt::format("{}case: {}\n", out.empty() || out.ends_with("\n\n") ? "" : "\n", c.title);
    if (c.target != PassCase().target) out += fmt::format("target: {}\n", c.target);
    if (!c.graph.empty()) out += "graph:\n" + c.graph;
    out += "in:\n" + c.in;
    out += c.same ? fmt::format("same: {}\n", c.why) : "out:\n" + c.out;
  }
  return out;
}

std::vector<PassFile> all_files() {
  std::vector<PassFile> out;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TENON_TEST_DATA) / "passes"))
    if (entry.path().extension() == ".plan") out.push_back(read_file(entry.path()));
  std::ranges::sort(out, {}, &PassFile::path);
  return out;
}

const PlanPass* pass_named(std::string_view name) {
  const auto found = std::ranges::find(plan_passes(), name, &PlanPass::name);
  return found == plan_passes().end() ? nullptr : &*found;
}

/// What the pass gets of that graph.
Result<std::string> plan_before(const PlanPass& pass, const PassCase& c) {
  const auto graph = TRY(ir::parse(c.graph, ops::table()));
  const std::vector<ir::Segment> segments = tests::nodes_alone(*graph);
  PlanOptions options{.segments = segments};
  if (pass.name == "shorten_products") options.precision = Precision::bf16;
  if (pass.name == "read_codes") options.sums_in_order = true;
  for (const PlanPass* p = &pass; p != plan_passes().data() + plan_passes().size(); ++p) options.off.emplace(p->name);
  const Target& target = *TRY(target_named(c.target));
  return text_of(TRY(plan(*graph, target, options)), nullptr);
}

/// The plan of `text` after the pass, as text. The text of a plan is `text` again.
Result<std::string> plan_after(const PlanPass& pass, const PassCase& c) {
  Symbols symbols;
  ir::TextConstants constants;
  Plan plan = TRY(parse_plan(c.in, symbols));
  EXPECT_EQ(text_of(plan, &constants), c.in);
  plan.limits = TRY(target_named(c.target))->plan_limits;
  pass.run(plan);
  std::string out = text_of(plan, &constants);
  const auto again = parse_plan(out, symbols, &constants);
  EXPECT_TRUE(again) << again.error().text() << "\n" << out;
  return out;
}

void rewrite(PassFile& file, const PlanPass& pass) {
  for (PassCase& c : file.cases) {
    if (c.in.empty()) {
      auto in = plan_before(pass, c);
      ASSERT_TRUE(in) << c.title << ": " << in.error().text();
      c.in = *std::move(in);
    }
    auto out = plan_after(pass, c);
    ASSERT_TRUE(out) << c.title << ": " << out.error().text();
    if (!c.same) c.out = *std::move(out);
  }
  std::ofstream(file.path) << text_of(file);
}

class PassText : public testing::TestWithParam<PassFile> {};

TEST_P(PassText, Plans) {
  PassFile file = GetParam();
  const PlanPass* pass = pass_named(file.pass());
  ASSERT_TRUE(pass) << "no planning pass is named " << file.pass();
  if (std::getenv("TENON_REWRITE")) return rewrite(file, *pass);
  for (const PassCase& c : file.cases) {
    SCOPED_TRACE(file.pass() + ": " + c.title);
    const auto out = plan_after(*pass, c);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(*out, c.same ? c.in : c.out);
    EXPECT_EQ(c.same, !c.why.empty()) << "a pass that changes nothing has a reason";
    if (!c.same) EXPECT_NE(c.in, c.out) << "write `same: why` instead";
  }
}

INSTANTIATE_TEST_SUITE_P(Text, PassText, testing::ValuesIn(all_files()),
                         [](const testing::TestParamInfo<PassFile>& info) { return info.param.pass(); });

TEST(PassTexts, EveryPassChangesAPlanAndLeavesAnotherAlone) {
  std::map<std::string, std::pair<int, int>> changed_and_same;
  for (const PassFile& file : all_files())
    for (const PassCase& c : file.cases) ++(c.same ? changed_and_same[file.pass()].second : changed_and_same[file.pass()].first);
  for (const PlanPass& pass : plan_passes()) {
    const auto [changed, same] = changed_and_same[std::string(pass.name)];
    EXPECT_GT(changed, 0) << pass.name;
    EXPECT_GT(same, 0) << pass.name;
  }
}

}  // namespace
}  // namespace tenon::codegen
