// SPDX-License-Identifier: Apache-2.0
#include "cli/options/state_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/console/number_checks.h"
#include "files/atomic_write.h"
#include "files/mapped_file.h"

namespace tenon::cli {

void StateOptions::add_to(CLI::App& app) {
  app.add_option("--steps", steps,
                 "run so many steps one after the other, each on the states that the one before left (default: 1). An --input whose array "
                 "has one dimension more, of that size, has a value for each step; others are the same in all, random ones differ")
      ->check(at_least(1));
  app.add_option("--load-state", load, "begin with the states of this file in place of their initial values")->type_name("FILE");
  app.add_option("--save-state", save, "write the states after the last step, for --load-state and Context.restore")->type_name("OUT");
}

Result<void> StateOptions::check(const runtime::Engine& engine) const {
  if (!engine.states().empty() || (load.empty() && save.empty())) return {};
  return fail(Code::bad_usage, load.empty() ? "--save-state" : "--load-state", "the engine has no states")
      .expected("an engine with states")
      .found("none")
      .advice("name states when it is built: tenon build --state 'PAST=PRESENT:CAPACITY'");
}

Result<void> StateOptions::begin(runtime::Context& context) const {
  context.reset();
  if (load.empty()) return {};
  const auto file = TRY(files::MappedFile::open(load));
  auto restored = context.restore_states({reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()});
  if (!restored) return std::move(restored).error().placed_at("--load-state " + load);
  return {};
}

Result<void> StateOptions::end(const runtime::Context& context) const {
  if (save.empty()) return {};
  return files::write_file(save, TRY(context.save_states()));
}

Error at_step(Error error, int64_t step, int64_t steps) {
  const std::string inner = error->place;
  std::string place = fmt::format("step {} of {}", step + 1, steps);
  if (!inner.empty()) place += ", " + inner;
  return std::move(error).placed_at(std::move(place));
}

}  // namespace tenon::cli
