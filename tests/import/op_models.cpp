// SPDX-License-Identifier: Apache-2.0
// op_models OUT DOMAIN...: the samples of all ops of the domains as models of one node, for tools/check/ort_ops.py. A case K gives
//   OUT/K.onnx             the node; operands that the sample gives values are initializers
//   OUT/K.npz              inputs in0, in1, ... and, by the reference, outputs out0, out1, ...
//   a line of cases.jsonl  {"case", "op", "sample"}
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "files/npz.h"
#include "import/onnx_export.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::import {
namespace {

constexpr int64_t kNewestOpset = 21;  ///< that every op of ONNX Runtime's reads

Result<void> write_case(const ops::OpDef& def, std::string_view text, const std::filesystem::path& stem) {
  const auto made = TRY(ops::build_sample(def, TRY(ops::parse_sample(def, text)), 5));
  const std::vector<Tensor> outputs = TRY(ops::evaluate(*made.graph, made.inputs));
  ExportOptions options;
  options.raise_to = kNewestOpset;
  TRY(export_onnx(*made.graph, stem.string() + ".onnx", options));
  files::NamedTensors arrays;
  for (size_t i = 0; i < made.inputs.size(); ++i) arrays.emplace_back(fmt::format("in{}", i), made.inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i) arrays.emplace_back(fmt::format("out{}", i), outputs[i]);
  return files::write_npz(stem.string() + ".npz", arrays);
}

int run(const std::filesystem::path& out, const std::vector<std::string>& domains) {
  std::filesystem::create_directories(out);
  std::ofstream list(out / "cases.jsonl");
  for (const ops::OpDef* def : ops::all_ops()) {
    if (std::ranges::find(domains, def->domain) == domains.end()) continue;
    int number = 0;
    for (std::string_view text : def->samples) {
      const std::string name = fmt::format("{}.{}.{}", def->domain, def->name, number++);
      if (const auto done = write_case(*def, text, out / name); !done) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), done.error().text().c_str());
        return 1;
      }
      list << nlohmann::json{{"case", name}, {"op", def->name}, {"sample", text}} << "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace tenon::import

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: op_models OUT DOMAIN...\n", stderr);
    return 2;
  }
  return tenon::import::run(words[1], {words + 2, words + count});
}
