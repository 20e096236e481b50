// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/timer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/measure/here.h"
#include "compiler/options/saved_options.h"
#include "compiler/save.h"

namespace tenon::compiler {

namespace {

namespace fs = std::filesystem;

std::string text_of(const CompileOptions& options, const backend::Backends& backends) {
  CodeOptions code = options;
  code.constraints = {};  // an item is placed already
  std::string out = fmt::format("{}{} threads\n{}\n", text_of_here(), options.threads, saved_options(code, {}).dump());
  if (options.target) out += fmt::format("target {}\n", options.target->name);
  for (const backend::Backend* b : backends) out += library_text(*b);
  return out;
}

}  // namespace

Timer::Timer(const CompileOptions& options, const backend::Backends& backends)
    : options_(options), times_(options.measuring->times), here_(text_of(options, backends)) {}

Hash128 Timer::key_of(const Item& item) const { return hash128(here_ + item.of); }

Result<std::vector<std::optional<double>>> Timer::time(std::span<const Item> items, int passes) {
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

Result<void> Timer::pass(std::vector<Engine>& engines, std::span<std::optional<double>> least) {
  std::vector<fs::path> files;
  for (const Engine& e : engines) files.push_back(e.file);
  const auto ns = TRY(options_.measuring->stopwatch->time(files));
  std::vector<Engine> ran;
  for (size_t k = 0; k < engines.size(); ++k) {
    if (!ns[k]) continue;
    std::optional<double>& of_item = least[engines[k].item];
    of_item = std::min(*ns[k], of_item.value_or(*ns[k]));
    ran.push_back(engines[k]);
  }
  engines = std::move(ran);
  return {};
}

Result<std::vector<std::optional<double>>> Timer::run(std::span<const Item* const> items, int passes) {
  std::vector<std::optional<double>> out(items.size());
  std::vector<Engine> engines;
  for (size_t k = 0; k < items.size(); ++k) {
    const auto built = items[k]->build();
    if (!built) continue;  // a segment that a backend does not compile is nobody's candidate
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
