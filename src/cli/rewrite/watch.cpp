// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console/console.h"
#include "cli/rewrite/excerpt.h"

namespace tenon::cli {
namespace {

constexpr auto kBetweenLines = std::chrono::milliseconds(100);

RewriteRecord record_of(const rewrite::RewriteEvent& a, int64_t number, const std::string& pass) {
  RewriteRecord out{number, a.rule.name, a.rule.sets, a.rule.docs, pass, {}, {}, {}};
  for (ir::NodeId id : a.match.nodes) out.matched.push_back(title_of(a.graph, id));
  for (ir::NodeId id : a.new_nodes) {
    out.made.push_back(title_of(a.graph, id));
    if (const auto& provenance = a.graph.node(id).provenance) out.sources = provenance->sources;
  }
  return out;
}

}  // namespace

void RewriteWatch::hook_into(passes::Options& options) {
  stop_after_ = options.rewriting.stop_after;
  options.progress = [this](std::string_view pass, int, int) {
    pass_ = pass;
    check_ms_of_pass_.push_back(0);
    console_.progress(pass);
  };
  options.rewriting.applied = [this](const rewrite::RewriteEvent& a) { applied(a); };
  if (!dump_ && !options.rewriting.check) return;
  options.rewriting.check = [this, inner = options.rewriting.check](const rewrite::Proposal& p) -> Result<void> {
    const auto start = Clock::now();
    auto verdict = check(p, inner);
    spent(p.rule.name, start);
    return verdict;
  };
}

void RewriteWatch::spent(const std::string& rule, Clock::time_point since) {
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - since).count();
  check_ms_ += ms;
  check_ms_of_rule_[rule] += ms;
  check_ms_of_pass_.back() += ms;
}

void RewriteWatch::deduct_from(passes::Report& report) const {
  const auto take = [](double& from, double ms) { from = std::max(0.0, from - ms); };
  take(report.ms, check_ms_);
  take(report.rules.ms, check_ms_);
  for (size_t i = 0; i < std::min(report.passes.size(), check_ms_of_pass_.size()); ++i) take(report.passes[i].ms, check_ms_of_pass_[i]);
  for (auto& rule : report.rules.rules)
    if (const auto found = check_ms_of_rule_.find(rule.name); found != check_ms_of_rule_.end()) take(rule.ms, found->second);
}

Result<void> RewriteWatch::check(const rewrite::Proposal& proposal, const rewrite::Check& inner) {
  if (dump_) dump_->proposed(proposal, count_ + 1);
  auto verdict = inner ? inner(proposal) : Result<void>();
  if (dump_ && !verdict) dump_->undone(verdict.error().text());
  return verdict;
}

void RewriteWatch::applied(const rewrite::RewriteEvent& a) {
  if (++count_ == stop_after_) last_ = record_of(a, count_, pass_);
  const auto now = Clock::now();
  if (now - last_line_ > kBetweenLines) {
    last_line_ = now;
    console_.progress(fmt::format("{}: {} rewrites, the last by {}", pass_, count_, a.rule.name));
  }
  if (!dump_) return;
  dump_->applied();
  spent(a.rule.name, now);
}

}  // namespace tenon::cli
