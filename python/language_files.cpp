// SPDX-License-Identifier: Apache-2.0
#include "language_files.h"

#include "compiler/checkpoints/checkpoint_cache.h"
#include "engine/magic.h"
#include "handles.h"

namespace tenon_python {

namespace {

using tenon::Code;

tenon::base::Result<std::filesystem::path> found(const std::filesystem::path& model, int64_t context) {
  if (!tenon::engine::is_engine_file(model)) return tenon::compiler::cached_engine(model, context, {});
  if (context == 0) return model;
  return tenon::base::fail(Code::bad_usage, "context", "an engine has the context that it was built with")
      .expected("a GGUF file or a folder of Hugging Face")
      .found(model.string() + ", an engine")
      .advice("leave it out, or build the engine with --context");
}

}  // namespace

std::filesystem::path engine_file(const std::filesystem::path& model, int64_t context) {
  auto file = [&] {
    const nanobind::gil_scoped_release released;
    return found(model, context);
  }();
  return tenon::python::unwrap(std::move(file));
}

}  // namespace tenon_python
