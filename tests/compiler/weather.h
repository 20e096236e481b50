// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/threads.h"
#include "compiler/compile.h"
#include "compiler/load.h"
#include "compiler/save.h"

/// Weathers: the same tests under another climate, which TENON_WEATHER names (tests/CMakeLists.txt has an entry for each).
namespace tenon::tests {

enum class Home : uint8_t { memory, file, portable_file };

struct Weather {
  std::string_view name;
  int threads = 0;           ///< that runs take; 0: all
  Home home = Home::memory;  ///< where an engine comes from
  bool guard = false;
};

inline constexpr Weather kWeathers[] = {
    {.name = "clear"},
    {.name = "one_thread", .threads = 1},
    {.name = "four_threads", .threads = 4},
    {.name = "saved", .home = Home::file},
    {.name = "portable", .home = Home::portable_file},
    {.name = "guard", .guard = true},
};

inline const Weather& weather() {
  static const Weather& found = [] -> const Weather& {
    const char* name = std::getenv("TENON_WEATHER");
    for (const Weather& w : kWeathers)
      if (w.name == (name ? name : "clear")) {
        if (w.threads > 1) size_default_team(w.threads);
        return w;
      }
    std::fprintf(stderr, "TENON_WEATHER=%s: there is no such weather\n", name);
    std::exit(2);
  }();
  return found;
}

inline const bool weather_is_known = (weather(), true);  // before anything asks for the team

inline compiler::CompileOptions compile_options(int opt) {
  compiler::CompileOptions options;
  options.opt = opt;
  return options;
}

inline runtime::RunOptions run_options() {
  runtime::RunOptions options;
  options.threads = weather().threads;
  options.guard = weather().guard;
  return options;
}

/// The engine, by way of a file where the weather is so.
inline Result<std::shared_ptr<runtime::Engine>> engine_from(compiler::Compiled compiled, compiler::CompileOptions options) {
  if (weather().home == Home::memory) return compiler::load_compiled(std::move(compiled));
  options.portable = weather().home == Home::portable_file;
  const auto path = std::filesystem::temp_directory_path() / ("weather_" + std::to_string(getpid()) + ".tenon");
  TRY(compiler::save(compiled, options, path));
  auto engine = compiler::load(path, {.verify = true});
  std::filesystem::remove(path);
  return engine;
}

}  // namespace tenon::tests
