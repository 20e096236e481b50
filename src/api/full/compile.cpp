// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile.h"

#include "compiler/save.h"
#include "import/onnx_import.h"

// Last: the public names come after the inner ones (see there).
#include "api/state.h"

namespace tenon::inline v1 {

namespace {

import::ImportOptions import_options(const CompileOptions& options) {
  import::ImportOptions out;
  out.external_data_dir = options.external_data;
  for (const auto& [input, sizes] : options.shapes) {
    import::RequestedShape shape{input, {}};
    for (const int64_t s : sizes) shape.dims.push_back({s < 0 ? std::nullopt : std::optional(s), {}});
    out.shapes.push_back(std::move(shape));
  }
  return out;
}

/// What saving needs, once the engine itself has taken the rest.
std::shared_ptr<compiler::Compiled> kept_for_saving(compiler::Compiled& compiled) {
  auto kept = std::make_shared<compiler::Compiled>();
  kept->graph = std::move(compiled.graph);
  kept->built.program = compiled.built.program;
  kept->built.weights = compiled.built.weights;
  kept->code = compiled.code;
  kept->report = compiled.report;
  return kept;
}

base::Result<Engine> compile_model(const std::filesystem::path& model, const CompileOptions& options) {
  compiler::CompileOptions inner;
  inner.opt = options.opt;
  inner.threads = options.threads;
  inner.progress = options.progress;
  inner.source = model.filename().string();
  auto imported = TRY(import::import_onnx(model, import_options(options)));
  auto compiled = TRY(compiler::compile(std::move(imported.graph), inner));
  auto kept = kept_for_saving(compiled);
  auto engine = TRY(compiler::load_compiled(std::move(compiled)));
  inner.progress = nullptr;
  return make_engine(std::move(engine), [kept, inner](const std::filesystem::path& path, bool portable) {
    compiler::CompileOptions saving = inner;
    saving.portable = portable;
    return compiler::save(*kept, saving, path);
  });
}

}  // namespace

Result<Engine> compile(const std::filesystem::path& model, const CompileOptions& options) {
  return guarded([&]() -> Result<Engine> {
    if (options.opt < 0 || options.opt > 3)
      return std::unexpected(
          Error{Code::bad_usage, "opt", "there is no such level", "0 to 3", std::to_string(options.opt), "3 does everything"});
    auto engine = compile_model(model, options);
    if (!engine) return std::unexpected(public_error(engine.error()));
    return std::move(*engine);
  });
}

}  // namespace tenon::inline v1
