// SPDX-License-Identifier: Apache-2.0
// rule_models FOLDER PREFIX OUT: the cases of FOLDER/PREFIX*.tn as models, for tools/check/ort_set.py. A case K gives
//   OUT/K.before.onnx, OUT/K.after.onnx   the graph, and what its rules make of it (no files where they change nothing; the first is
//                                         left out where no version of an op has the graph's types)
//   OUT/K.npz                             inputs in0, in1, ... and, by the reference, the outputs of the first one: out0, out1, ...
//   a line of OUT/cases.jsonl             {"case", "name", "rules", "set", "approximate"}
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cases.h"
#include "files/npz.h"
#include "import/onnx_export.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "rewrite/driver/driver.h"
#include "rules/registry/registry.h"

namespace tenon::tests {
namespace {

constexpr int64_t kNewestOpset = 26;  ///< that ONNX Runtime reads

/// The sets of a rule: its own, or those of its file.
std::string set_of(const rewrite::Rule* rule) {
  for (const rules::Entry& entry : rules::all_rules())
    if (entry.rule == rule) return std::string(entry.sets);
  return {};
}

Result<void> write_arrays(const std::filesystem::path& path, const ir::Graph& graph) {
  std::mt19937 random(11);
  const std::vector<Tensor> inputs = draw_inputs(graph, random);
  const std::vector<Tensor> outputs = TRY(ops::evaluate(graph, inputs));
  files::NamedTensors arrays;
  for (size_t i = 0; i < inputs.size(); ++i) arrays.emplace_back(fmt::format("in{}", i), inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) arrays.emplace_back(fmt::format("out{}", i), outputs[i]);
  return files::write_npz(path, arrays);
}

/// false: the rules change nothing.
Result<bool> write_case(const Case& c, const std::vector<const rewrite::Rule*>& rules, const std::filesystem::path& stem) {
  auto graph = TRY(ir::parse(c.in, ops::table()));
  const auto before = graph->clone();
  rewrite::Options all;
  all.allowed = rewrite::Numerics::approximate;
  const auto set = TRY(rewrite::RuleSet::make(rules, ops::table()));
  if (!TRY(rewrite::rewrite(*graph, set, all)).changed) return false;
  import::ExportOptions options;
  options.raise_to = kNewestOpset;
  const auto written = import::export_onnx(*before, stem.string() + ".before.onnx", options);
  if (!written && written.error().code() != Code::not_supported) return std::unexpected(written.error());
  TRY(import::export_onnx(*graph, stem.string() + ".after.onnx", options));
  TRY(write_arrays(stem.string() + ".npz", *before));
  return true;
}

int run(const std::filesystem::path& folder, const std::string& prefix, const std::filesystem::path& out) {
  std::filesystem::create_directories(out);
  std::ofstream list(out / "cases.jsonl");
  int number = 0;
  for (const Case& c : all_cases(folder)) {
    if (!c.file.starts_with(prefix)) continue;
    const auto rules = named(c.rules);
    const std::string stem = fmt::format("{}.{}", std::filesystem::path(c.file).stem().string(), number++);
    const auto written = write_case(c, rules, out / stem);
    if (!written) {
      std::cerr << c.file << ", " << c.name << ": " << written.error().text() << "\n";
      return 1;
    }
    if (!*written) continue;
    const bool approximate = std::ranges::any_of(rules, [](auto* r) { return r->numerics == rewrite::Numerics::approximate; });
    list << nlohmann::json{{"case", stem},
                           {"name", c.name},
                           {"rules", c.rules},
                           {"set", set_of(rules.front())},
                           {"approximate", approximate}}
         << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace tenon::tests

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("usage: rule_models FOLDER PREFIX OUT\n", stderr);
    return 2;
  }
  return tenon::tests::run(words[1], words[2], words[3]);
}
