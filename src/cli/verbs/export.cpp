// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/model_options.h"
#include "import/onnx_export.h"
#include "passes/pipeline.h"

namespace tenon::cli::verb_export {
namespace {

struct Options {
  ModelOptions model;
  std::string output;
  int64_t opset = 0, raise = 0;
  int opt = 0;
  std::string rules = "tenon";
  bool external = false, bare = false;
};

import::ExportOptions export_options(const Options& o) {
  import::ExportOptions options;
  if (o.opset != 0) options.opset = o.opset;
  options.raise_to = o.raise;
  options.external_data = o.external;
  options.value_info = !o.bare;
  return options;
}

Result<void> write(const Options& o, Console& console) {
  const import::Imported m = TRY(o.model.import());
  for (const std::string& w : m.warnings) console.warn(w);
  if (o.opt > 0) {
    passes::Options rewriting;
    rewriting.level = o.opt;
    rewriting.rule_selection = o.rules + "-fuse/grouped_weights";  // ONNX has no constants in blocks
    TRY(passes::optimise(*m.graph, rewriting));
  }
  const int64_t opset = TRY(import::export_onnx(*m.graph, o.output, export_options(o))).opset;
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(o.output, error));
  console.line(fmt::format("{}: opset {}, {} nodes, {} bytes", o.output, opset, m.graph->node_count(), bytes));
  console.object({{"file", o.output}, {"opset", opset}, {"nodes", m.graph->node_count()}, {"bytes", bytes}});
  return {};
}

}  // namespace

VERB(export) {
    .summary = "read a model and write it as ONNX again, at another opset or with fixed shapes",
    .examples =
        "  tenon export model.onnx -o fixed.onnx --shape ids=1x128\n"
        "  tenon export model.onnx -o newer.onnx --opset 20\n"
        "  tenon export model.onnx -o fused.onnx --opt 3 --opset 13\n"
        "  tenon export model.onnx -o ort.onnx --opt 3 --rules tenon+onnxruntime --raise-opset 26\n"
        "  tenon export model.onnx -o split.onnx --external-weights\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->model.add_to(app);
      app.add_option("-o,--output", o->output, "the file to write")->required()->type_name("OUT");
      app.add_option("--opset", o->opset, "exactly this opset (default: the lowest that has every node)")->type_name("N");
      app.add_option("--opt", o->opt, "rewrite the graph first, as `build` does: 0 (not at all) to 3 (all rules)")
          ->type_name("0..3")
          ->check(between(0, 3));
      app.add_option("--rules", o->rules, "rules to apply: sets, files or names; + adds, - removes")->type_name("RULES");
      app.add_option("--raise-opset", o->raise, "fused ops that this opset has raise the opset instead of becoming functions")
          ->type_name("N")
          ->excludes("--opset");
      app.add_flag("--external-weights", o->external, "put the weights into OUT.data");
      app.add_flag("--no-value-info", o->bare, "leave out the types of intermediate values");
      return [o](Console& console) { return write(*o, console); };
    },
};

}  // namespace tenon::cli::verb_export
