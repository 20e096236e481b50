// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "cli/console.h"
#include "cli/engine_options.h"
#include "cli/verb.h"
#include "files/npy.h"
#include "files/npz.h"

namespace tenon::cli {
namespace {

struct Options {
  EngineOptions engine;
  InputOptions inputs;
  std::string output_dir, output;
};

/// Characters that are not safe in a file name as %XX.
std::string file_name_of(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) {
    if (std::isalnum(c) || c == '.' || c == '_' || c == '-') out += static_cast<char>(c);
    else out += fmt::format("%{:02X}", c);
  }
  return out;
}

Result<void> write_results(const Options& o, const files::NamedTensors& results) {
  if (!o.output.empty()) TRY(files::write_npz(o.output, results));
  if (o.output_dir.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(o.output_dir, error);
  if (error) return fail(Code::write_failed, o.output_dir, "the folder cannot be made").expected("a folder").found(error.message());
  for (const auto& [name, tensor] : results)
    TRY(files::write_npy(std::filesystem::path(o.output_dir) / (file_name_of(name) + ".npy"), tensor));
  return {};
}

std::string preview(const Tensor& t) {
  std::string out;
  for (int64_t i = 0; i < std::min<int64_t>(t.count(), 6); ++i) {
    if (t.dtype() == DType::string) out += (i ? ", " : "") + t.strings()[i];
    else if (is_float(t.dtype())) out += fmt::format("{}{:.6g}", i ? ", " : "", t.number(i));
    else out += fmt::format("{}{}", i ? ", " : "", t.integer(i));
  }
  return out + (t.count() > 6 ? ", ..." : "");
}

Result<void> run_model(const Options& o, Console& console) {
  const auto engine = TRY(o.engine.engine(console));
  const auto inputs = TRY(o.inputs.inputs(*engine, TRY(o.engine.model.import_options()).shapes));
  auto context = TRY(runtime::Context::create(engine));
  const auto results = TRY(context->run(inputs, o.engine.run_options()));
  files::NamedTensors named;
  std::vector<std::vector<std::string>> rows{{"output", "type", "values"}};
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (size_t k = 0; k < results.size(); ++k) {
    const std::string& name = engine->outputs()[k].name;
    named.emplace_back(name, results[k]);
    rows.push_back({name, type_text(results[k].dtype(), results[k].shape()), preview(results[k])});
    json.push_back({{"name", name}, {"dtype", name_of(results[k].dtype())}, {"shape", results[k].shape()}});
  }
  TRY(write_results(o, named));
  console.table(rows);
  console.object({{"outputs", json}});
  return {};
}

}  // namespace

VERB(run) {
    .summary = "run a model or an engine once",
    .examples =
        "  tenon run model.onnx\n"
        "  tenon run model.onnx --input ids=ids.npy --output-dir results\n"
        "  tenon run model.tenon --input batch.npz --output results.npz\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->engine.add_to(app);
      o->engine.add_guard_to(app);
      o->inputs.add_to(app);
      app.add_option("--output-dir", o->output_dir, "write one NAME.npy an output into this folder")->type_name("DIR");
      app.add_option("--output", o->output, "write all outputs into one archive")->type_name("FILE.npz");
      return [o](Console& console) { return run_model(*o, console); };
    },
};

}  // namespace tenon::cli
