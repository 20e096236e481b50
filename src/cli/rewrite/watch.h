// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/rewrite/dump.h"
#include "passes/pass.h"

namespace tenon::cli {

class Console;

/// One rewrite, for reports.
struct RewriteRecord {
  int64_t number = 0;  ///< from 1
  std::string rule, sets, docs, pass;
  std::vector<std::string> matched, made;  ///< "name (Op)", the root first
  std::vector<std::string> sources;        ///< names of the model's nodes from which the matched nodes come
};

/// Watches a run of passes: counts the rewrites of all passes, shows them on a terminal, hands them to a dump, and measures the time that
/// watching and checking take, which is no part of rewriting.
class RewriteWatch {
 public:
  /// dump: may be null.
  RewriteWatch(Console& console, RewriteDump* dump) : console_(console), dump_(dump) {}
  RewriteWatch(const RewriteWatch&) = delete;

  /// Installs its hooks, which call those that are installed already. The watch must outlive the run.
  void hook_into(passes::Options& options);
  /// Subtracts the time of checks and of the dump from the report of the run.
  void deduct_from(passes::Report& report) const;
  int64_t rewrites() const { return count_; }
  /// The rewrite of number Options::rewriting.stop_after; empty where there were fewer.
  const std::optional<RewriteRecord>& last() const { return last_; }
  double check_ms() const { return check_ms_; }

 private:
  Result<void> check(const rewrite::Proposal& proposal, const rewrite::Check& inner);
  void applied(const rewrite::RewriteEvent& applied);
  void spent(const std::string& rule, std::chrono::steady_clock::time_point since);

  using Clock = std::chrono::steady_clock;
  Console& console_;
  RewriteDump* dump_;
  int64_t count_ = 0;
  int64_t stop_after_ = 0;
  std::string pass_;
  std::optional<RewriteRecord> last_;
  double check_ms_ = 0;
  std::map<std::string, double, std::less<>> check_ms_of_rule_;
  std::vector<double> check_ms_of_pass_;  ///< for each pass that ran
  Clock::time_point last_line_;
};

}  // namespace tenon::cli
