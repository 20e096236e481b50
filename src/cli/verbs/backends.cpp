// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "base/activity.h"
#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/options/library_options.h"
#include "compiler/backends.h"
#include "compiler/measure/calibration.h"
#include "compiler/partition_data.h"
#include "ops/core/sample.h"

namespace tenon::cli::verb_backends {
namespace {

struct Options {
  LibraryOptions libraries;
  bool ops = false;
};

/// Takes the backend a sample of the op?
bool takes(const backend::Backend& backend, const ops::OpDef& def) {
  return std::ranges::any_of(def.samples, [&](std::string_view text) {
    const auto sample = ops::parse_sample(def, text);
    if (!sample) return false;
    const auto made = ops::build_sample(def, *sample, 1);
    return made && backend.supports(*made->graph, made->node);
  });
}

size_t count_ops(const backend::Backend& backend) {
  const auto all = ops::all_ops();
  return static_cast<size_t>(std::ranges::count_if(all, [&](const ops::OpDef* def) { return takes(backend, *def); }));
}

Result<void> show(const Options& o, Console& console) {
  const auto registry = TRY(compiler::Registry::make(TRY(o.libraries.libraries())));
  std::vector<std::vector<std::string>> rows{{"backend", "library", "a start costs", o.ops ? "ops" : "", "what it is"}};
  const auto calibration = compiler::read_calibration();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const backend::Backend* b : registry->all()) {
    const Activity activity(b->name(), "opened its library");
    const auto library = b->library();
    nlohmann::ordered_json entry{{"name", b->name()}, {"docs", b->docs()}, {"found", library.has_value()}};
    const backend::Overheads costs = calibration->find(*b).value_or(b->overheads());
    const bool copies = costs.copies_weights;
    entry["copies_weights"] = copies;
    entry["costs"] = compiler::costs_data(costs);
    std::string text = "built in", ops;
    if (!library) {
      const Diagnostic& d = *library.error();
      text = fmt::format("{} ({})", d.what, d.found);
      entry["why_not"] = d.text();
    } else if (*library) {
      text = fmt::format("{}: {}", (*library)->version, (*library)->file);
      entry["version"] = (*library)->version;
      entry["file"] = (*library)->file;
    }
    if (o.ops && library) entry["ops"] = count_ops(*b);
    if (entry.contains("ops")) ops = fmt::format("{} of {}", entry["ops"].get<size_t>(), ops::all_ops().size());
    rows.push_back(
        {std::string(b->name()), text, compiler::costs_text(costs), ops, fmt::format("{}{}", b->docs(), copies ? "; copies weights" : "")});
    json.push_back(std::move(entry));
  }
  console.table(rows);
  console.object({{"backends", json}});
  return {};
}

}  // namespace

VERB(backends) {
    .summary = "list the backends, and why one is not available",
    .examples =
        "  tenon backends\n"
        "  tenon backends --backend-lib onnxruntime=/opt/ort/lib/libonnxruntime.so --ops\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      o->libraries.add_to(app);
      app.add_flag("--ops", o->ops, "count the ops of which each backend supports at least one sample");
      return [o](Console& console) { return show(*o, console); };
    },
    .isolates = true,
};

}  // namespace tenon::cli::verb_backends
