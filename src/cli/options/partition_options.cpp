// SPDX-License-Identifier: Apache-2.0
#include "cli/options/partition_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

#include "cli/options/comma_list.h"
#include "cli/options/table_options.h"
#include "compiler/backends.h"

namespace tenon::cli {

namespace {

std::string backend_list() {
  std::string out;
  for (const backend::Backend* b : compiler::all_backends()) out.append(out.empty() ? "" : ", ").append(b->name());
  return out;
}

Result<partition::Pin> pin_of(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals != text.npos && equals > 0 && equals + 1 < text.size()) return partition::Pin{text.substr(0, equals), text.substr(equals + 1)};
  return fail(Code::bad_usage, "--pin", "a pin names a node or a module, and a backend").expected("NAME=BACKEND").found(text);
}

Error no_limit(const std::string& text) {
  return fail(Code::bad_usage, "--memory", "a limit names a backend and a number of bytes")
      .expected("NAME=BYTES, more than 0; K, M and G are powers of 1024")
      .found(text);
}

Result<partition::MemoryLimit> limit_of(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == text.npos || equals == 0) return no_limit(text);
  int64_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data() + equals + 1, end, bytes);
  const std::string_view units = "KMG";
  const size_t power = unit + 1 == end ? units.find(*unit) : units.npos;
  if (error != std::errc() || bytes <= 0 || (unit != end && power == units.npos)) return no_limit(text);
  const int shift = unit == end ? 0 : static_cast<int>(10 * (power + 1));
  if (bytes > INT64_MAX >> shift) return no_limit(text);
  return partition::MemoryLimit{text.substr(0, equals), bytes << shift};
}

Result<DType> type_of(const std::string& name, const std::string& text) {
  if (const auto known = dtype_named(name)) return *known;
  return fail(Code::bad_usage, "--narrow " + text, "there is no such element type").expected("f64=f32, i64=i32").found("'" + name + "'");
}

Result<partition::Narrowing> narrowing_of(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return fail(Code::bad_usage, "--narrow", "it names a type and its replacement").expected("f64=f32").found(text);
  return partition::Narrowing{TRY(type_of(text.substr(0, equals), text)), TRY(type_of(text.substr(equals + 1), text))};
}

}  // namespace

void PartitionOptions::add_to(CLI::App& app, std::function<void()> needs_modules) {
  const auto speaks_of_modules = [needs_modules = std::move(needs_modules)](const std::string&) { needs_modules(); };
  CLI::Option* const backend = add_table_option(app, "backends", backends_);
  backend->description(backend->get_description() + ": " + backend_list());
  add_table_option(app, "assign", assign_)->capture_default_str();
  add_table_option(app, "measure", measure_);
  add_table_option(app, "min_block_size", min_block_size_)->each([this](const std::string&) { has_block_size_ = true; });
  add_table_option(app, "fallback_ops", fallback_ops_);
  add_table_option(app, "fallback_modules", fallback_modules_)->each(speaks_of_modules);
  add_table_option(app, "pins", pins_)->each(speaks_of_modules);
  add_table_option(app, "memory", memory_);
  add_table_option(app, "narrow", narrow_)->delimiter(',');
  add_table_option(app, "require_full", require_full_);
  add_table_option(app, "segmenter", segmenter_);
}

Result<std::vector<std::string>> PartitionOptions::backends() const { return names_between_commas("--backend", backends_); }

bool PartitionOptions::any() const {
  return !backends_.empty() || !fallback_ops_.empty() || !fallback_modules_.empty() || !pins_.empty() || has_block_size_ || require_full_ ||
         segmenter_ != "fewest" || assign_ != "priority" || measure_ || !memory_.empty() || !narrow_.empty();
}

Result<void> PartitionOptions::check_measure(bool has_plugins) const {
  if (!measure_ || assign_ == "cost" || has_plugins) return {};
  return fail(Code::bad_usage, "--measure", "what is measured is what --assign cost goes by, and the ways of plugins")
      .expected("--assign cost --measure, or plugins")
      .found("--assign " + assign_);
}

Result<partition::Constraints> PartitionOptions::constraints() const {
  if (has_block_size_ && (min_block_size_ < 1 || min_block_size_ > UINT32_MAX))
    return fail(Code::bad_usage, "--min-block-size", "a segment has at least one node")
        .expected(fmt::format("a number from 1 to {}", UINT32_MAX))
        .found(std::to_string(min_block_size_));
  partition::Constraints out;
  out.listed = std::max<size_t>(1, TRY(backends()).size());
  out.fallback_ops = TRY(names_between_commas("--fallback-ops", fallback_ops_));
  out.fallback_modules = TRY(names_between_commas("--fallback-modules", fallback_modules_));
  for (const std::string& pin : pins_) out.pins.push_back(TRY(pin_of(pin)));
  for (const std::string& limit : memory_) out.memory.push_back(TRY(limit_of(limit)));
  for (const std::string& types : narrow_) out.narrow.push_back(TRY(narrowing_of(types)));
  out.min_block_size = static_cast<uint32_t>(min_block_size_);
  out.require_full = require_full_;
  if (assign_ == "cost") out.assign = partition::Assign::cost;
  if (segmenter_ == "walk") out.segmenter = partition::Segmenter::walk;
  return out;
}

}  // namespace tenon::cli
