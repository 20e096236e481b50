// SPDX-License-Identifier: Apache-2.0
#include "cli/options/input_options.h"

#include <CLI/CLI.hpp>

#include "cli/console/number_checks.h"
#include "cli/options/step_inputs.h"

namespace tenon::cli {

void InputOptions::add_to(CLI::App& app) {
  app.add_option("--input,--inputs", files,
                 "an input from a file: NAME=FILE.npy, or FILE.npz with arrays of the inputs' names (of a sequence: NAME/0, NAME/1, ...)")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  app.add_option("--seed", seed, "of the random inputs (default: 1), and of what random nodes draw (default: other numbers each run)")
      ->check(seed_number());
}

Result<std::vector<Tensor>> InputOptions::inputs(const runtime::Engine& engine, const std::vector<import::RequestedShape>& shapes) const {
  return inputs(engine.inputs(), shapes);
}

Result<std::vector<Tensor>> InputOptions::inputs(std::span<const runtime::PortInfo> ports,
                                                 const std::vector<import::RequestedShape>& shapes) const {
  return TRY(StepInputs::make(*this, ports, shapes)).next();
}

}  // namespace tenon::cli
