// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/timer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "compiler/measure/here.h"
#include "compiler/save.h"

namespace tenon::compiler {

namespace {

namespace fs = std::filesystem;

std::string text_of(const CompileOptions& options, const backend::Backends& backends) {
  std::string out = fmt::format("{}{} threads\nlevel {}\n", text_of_here(), options.threads, options.opt);
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

Result<std::vector<std::optional<double>>> Timer::run(std::span<const Item* const> items, int passes) {
  std::vector<std::optional<double>> out(items.size());
  std::vector<fs::path> files;
  std::vector<size_t> owners;
  for (size_t k = 0; k < items.size(); ++k) {
    const auto built = items[k]->build();
    if (!built) continue;  // a segment that a backend does not compile is nobody's candidate
    files.push_back(options_.measuring->folder / fmt::format("{}-{}.tenon", getpid(), k));
    owners.push_back(k);
    TRY(save(*built, options_, files.back()));
  }
  Result<void> all;
  for (int pass = 0; pass < passes && all && !files.empty(); ++pass) {
    const auto timed = options_.measuring->stopwatch->time(files);
    if (!timed) all = std::unexpected(timed.error());
    for (size_t k = 0; timed && k < files.size(); ++k)
      if (const auto& ns = (*timed)[k]; ns && (!out[owners[k]] || *ns < *out[owners[k]])) out[owners[k]] = ns;
  }
  for (const fs::path& file : files) {
    std::error_code ignored;
    fs::remove(file, ignored);
  }
  TRY(std::move(all));
  return out;
}

}  // namespace tenon::compiler
