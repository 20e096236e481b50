// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "partition/constraints.h"

namespace CLI {
class App;
}

namespace tenon::cli {

/// Options that assign nodes to backends: --backend, --assign, --measure, --min-block-size, --fallback-ops, --fallback-modules, --pin,
/// --memory, --narrow, --require-full, --segmenter.
struct PartitionOptions {
  /// Names, in order of priority. Errors: bad_usage for an empty one.
  Result<std::vector<std::string>> backends() const;
  /// Declares the options. needs_modules: called where a value names modules, whose metadata must then be read.
  void add_to(CLI::App& app, std::function<void()> needs_modules);
  /// Whether --measure is set.
  bool measures() const { return measure_; }
  /// Errors: bad_usage where there is nothing to measure.
  Result<void> check_measure(bool has_plugins) const;
  /// Whether any of the options is set.
  bool any() const;
  /// Errors: bad_usage.
  Result<partition::Constraints> constraints() const;

 private:
  std::vector<std::string> backends_, fallback_ops_, fallback_modules_, pins_, memory_, narrow_;  ///< as given
  int64_t min_block_size_ = 0;
  bool has_block_size_ = false;
  bool require_full_ = false, measure_ = false;
  std::string segmenter_ = "fewest", assign_ = "priority";
};

}  // namespace tenon::cli
