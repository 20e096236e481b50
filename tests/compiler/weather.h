// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/threads/thread_pool.h"
#include "codegen/passes/pipeline.h"
#include "compiler/compile.h"
#include "compiler/load.h"
#include "compiler/save.h"
#include "every_other.h"

/// Weathers: the same tests under another climate, which TENON_WEATHER names (tests/CMakeLists.txt has an entry for each).
namespace tenon::tests {

enum class Home : uint8_t { memory, file, portable_file };

struct Weather {
  std::string_view name;
  int threads = 0;           ///< that runs take; 0: all
  Home home = Home::memory;  ///< where an engine comes from
  bool check_memory = false;
  bool fuse = true;       ///< false: rewritten, but every op has a kernel of its own
  bool shared = false;    ///< half of the nodes run on another backend
  bool symbolic = false;  ///< every dimension of every input is a symbol of its own
};

inline constexpr Weather kWeathers[] = {
    {.name = "clear"},
    {.name = "one_thread", .threads = 1},
    {.name = "four_threads", .threads = 4},
    {.name = "saved", .home = Home::file},
    {.name = "portable", .home = Home::portable_file},
    {.name = "check_memory", .check_memory = true},
    {.name = "unfused", .fuse = false},
    {.name = "shared", .shared = true},
    {.name = "symbolic", .symbolic = true},
};

inline const Weather& weather() {
  static const Weather& found = [] -> const Weather& {
    const char* name = std::getenv("TENON_WEATHER");
    for (const Weather& w : kWeathers)
      if (w.name == (name ? name : "clear")) {
        if (w.threads > 1) size_default_thread_pool(w.threads);
        return w;
      }
    std::fprintf(stderr, "TENON_WEATHER=%s: there is no such weather\n", name);
    std::exit(2);
  }();
  return found;
}

inline const bool weather_is_known = (weather(), true);  // before anything asks for the thread pool

inline compiler::CompileOptions compile_options(int opt) {
  compiler::CompileOptions options;
  options.opt = opt;
  if (weather().shared) options.backends = every_other();
  codegen::PlanOptions without;
  without.fuse = false;
  without.precision = codegen::Precision::bf16;
  if (!weather().fuse)
    for (const codegen::PlanPass& pass : codegen::plan_passes())
      if (!pass.applies(without)) options.off.emplace(pass.name);
  return options;
}

/// A symbol for each size of each input, inferred anew; the graph as it is where an op needs a size (the kernel of Conv).
inline std::unique_ptr<ir::Graph> with_symbols(std::unique_ptr<ir::Graph> graph) {
  std::unique_ptr<ir::Graph> open = graph->clone();
  size_t symbols = 0;
  for (ir::ValueId input : open->inputs()) {
    ir::Type type = open->value(input).type;
    if (!type.has_rank() || !type.is_tensor()) continue;
    for (Dim& d : *type.shape)
      if (d.is_number()) d = open->symbols().symbol("s" + std::to_string(symbols++));
    open->set_type(input, type);
  }
  for (ir::NodeId n : open->nodes())
    for (ir::ValueId v : open->node(n).outputs)
      if (v) open->set_type(v, {}), open->set_data(v, std::nullopt);
  open->assumptions.truncate(0);
  if (auto inferred = ir::infer_all(*open); !inferred) {
    if (inferred.error().code() != Code::not_supported) {
      std::fprintf(stderr, "with symbols for all sizes: %s\n", inferred.error().text().c_str());
      std::abort();
    }
    return graph;
  }
  return open;
}

inline std::unique_ptr<ir::Graph> in_weather(std::unique_ptr<ir::Graph> graph) {
  return weather().symbolic ? with_symbols(std::move(graph)) : std::move(graph);
}

inline runtime::RunOptions run_options() {
  runtime::RunOptions options;
  options.threads = weather().threads;
  options.check_memory = weather().check_memory;
  return options;
}

/// The engine, by way of a file where the weather is so.
inline Result<std::shared_ptr<runtime::Engine>> engine_from(compiler::Compiled compiled, compiler::CompileOptions options) {
  if (weather().home == Home::memory) return compiler::load_compiled(std::move(compiled), every_other_device());
  options.portable = weather().home == Home::portable_file;
  const auto path = std::filesystem::temp_directory_path() / ("weather_" + std::to_string(getpid()) + ".tenon");
  TRY(compiler::save(compiled, options, path));
  auto engine = compiler::load(path, {.verify = true});
  std::filesystem::remove(path);
  return engine;
}

}  // namespace tenon::tests
