// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/engine_timer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/measure/environment_text.h"
#include "compiler/options/saved_options.h"
#include "compiler/save.h"

namespace tenon::compiler {

namespace {

namespace fs = std::filesystem;

std::string text_of(const CompileOptions& options, const backend::Backends& backends) {
  CodeOptions code = options;
  code.constraints = {};  // the nodes of an item are placed already
  std::string out = fmt::format("{}{} threads\n{}\n", environment_text(), options.threads, saved_options(code, {}).dump());
  if (options.target) out += fmt::format("target {}\n", options.target->name);
  for (const backend::Backend* b : backends) out += library_version_text(*b);
  return out;
}

}  // namespace

EngineTimer::EngineTimer(const CompileOptions& options, const backend::Backends& backends)
    : options_(options), times_(options.measuring->times), environment_(text_of(options, backends)) {}

Hash128 EngineTimer::key_of(const Item& item) const { return hash128(environment_ + item.key_text); }

Result<std::vector<std::optional<double>>> EngineTimer::time(std::span<const Item> items, int passes) {
  std::map<Hash128, const Item*> unknown;
  for (const Item& item : items)
    if (!times_.find(key_of(item))) unknown.emplace(key_of(item), &item);
  std::vector<const Item*> list;
  for (const auto& [key, item] : unknown) list.push_back(item);
  const auto ran = TRY(run(list, passes));
  for (size_t k = 0; k < list.size(); ++k)
    if (ran[k]) TRY(times_.add(key_of(*list[k]), *ran[k]));
  std::vector<std::optional<double>> out;
  for (const Item& item : items) out.push_back(times_.find(key_of(item)));
  return out;
}

Result<void> EngineTimer::pass(std::vector<Engine>& engines, std::span<std::optional<double>> least) {
  std::vector<fs::path> files;
  for (const Engine& e : engines) files.push_back(e.file);
  const auto ns = TRY(options_.measuring->runner->time(files));
  std::vector<Engine> ran;
  for (size_t k = 0; k < engines.size(); ++k) {
    if (!ns[k]) continue;
    std::optional<double>& item_ns = least[engines[k].item];
    item_ns = std::min(*ns[k], item_ns.value_or(*ns[k]));
    ran.push_back(engines[k]);
  }
  engines = std::move(ran);
  return {};
}

Result<std::vector<std::optional<double>>> EngineTimer::run(std::span<const Item* const> items, int passes) {
  std::vector<std::optional<double>> out(items.size());
  std::vector<Engine> engines;
  for (size_t k = 0; k < items.size(); ++k) {
    const auto built = items[k]->build();
    if (!built) continue;  // a backend fails to compile a segment: the item has no time
    engines.push_back({options_.measuring->folder / fmt::format("{}-{}.tenon", getpid(), k), k});
    TRY(save(*built, options_, engines.back().file));
  }
  const std::vector<Engine> all = engines;
  Result<void> done;
  for (int k = 0; k < passes && done && !engines.empty(); ++k) done = pass(engines, out);
  for (const Engine& e : all) {
    std::error_code ignored;
    fs::remove(e.file, ignored);
  }
  TRY(std::move(done));
  return out;
}

}  // namespace tenon::compiler
