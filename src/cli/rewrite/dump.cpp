// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "cli/console/graphviz.h"
#include "cli/rewrite/excerpt_picture.h"
#include "cli/rewrite/page.h"
#include "files/atomic_write.h"
#include "import/onnx_export.h"
#include "ir/text.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

bool is_of_a_dump(const std::string& name) {
  static const std::regex kFile(R"((\d{3,}|undone-\d{2,})-[A-Za-z0-9_.-]+\.(before|after)\.onnx)");
  return name == "index.html" || std::regex_match(name, kFile);
}

Error no_folder(const fs::path& folder, const std::string& reason) {
  return fail(Code::write_failed, folder.string(), "the folder cannot be written").expected("a folder that may be made").found(reason);
}

/// The results of both sides: the replaced values; for a rule that edits in place the values that are used outside of the nodes.
std::pair<std::vector<ExcerptResult>, std::vector<ExcerptResult>> results_of(const rewrite::Proposal& p) {
  std::vector<ExcerptResult> before, after;
  for (const auto& [from, to] : p.replacements) {
    const std::string& name = p.graph.value(from).name;
    before.push_back({from, name.empty() ? fmt::format("v{}", from.slot()) : name});
    after.push_back({to, before.back().name});
  }
  if (!before.empty()) return {before, after};
  for (ir::NodeId id : p.match.nodes)
    for (ir::ValueId v : p.graph.node(id).outputs)
      if (v && !p.graph.value(v).uses.empty()) before.push_back({v, p.graph.value(v).name});
  return {before, before};
}

std::vector<ir::NodeId> matched_nodes(const rewrite::Match& match) {
  std::vector<ir::NodeId> out(match.nodes.begin(), match.nodes.end());
  out.insert(out.end(), match.other_roots.begin(), match.other_roots.end());
  return out;
}

/// A rule may look through nodes that it does not take: they are shown, so that both sides start from the same values.
std::vector<ir::NodeId> context_of(const rewrite::Proposal& p, const std::vector<ir::NodeId>& matched,
                                   const std::vector<ir::NodeId>& made) {
  std::vector<ir::NodeId> old = matched, out;
  for (const auto& [from, to] : p.replacements)
    if (const ir::NodeId producer = p.graph.value(from).producer; producer && std::ranges::find(old, producer) == old.end())
      out.push_back(producer);
  old.insert(old.end(), out.begin(), out.end());
  std::vector<ir::ValueId> starts = inputs_from_outside(p.graph, made);
  for (const auto& [from, to] : p.replacements) starts.push_back(to);
  const std::vector<ir::NodeId> between = nodes_between(p.graph, starts, old);
  out.insert(out.end(), between.begin(), between.end());
  return out;
}

std::string file_stem(const DumpedRewrite& r, int64_t undone) {
  std::string rule = r.rule;
  for (char& c : rule)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
  return r.number > 0 ? fmt::format("{:03}-{}", r.number, rule) : fmt::format("undone-{:02}-{}", undone, rule);
}

Result<void> save(const Excerpt& excerpt, const fs::path& path, DumpSide& side) {
  side.nodes = std::ranges::count(excerpt.context, false);
  side.dot = excerpt_dot(excerpt);
  side.text = ir::print(*excerpt.graph);
  const auto bytes = import::export_onnx_bytes(*excerpt.graph);
  if (!bytes) {
    side.no_file_reason = bytes.error()->what;
    return {};
  }
  side.file = path.filename().string();
  return files::write_file(path, *bytes);
}

}  // namespace

Result<RewriteDump> RewriteDump::into(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return no_folder(folder, error.message());
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!is_of_a_dump(entry.path().filename().string()))
      return fail(Code::bad_usage, folder.string(), "the folder holds something else than an earlier dump")
          .expected("a new or empty folder")
          .found(entry.path().filename().string());
    old.push_back(entry.path());
  }
  for (const fs::path& path : old)
    if (!fs::remove(path, error)) return no_folder(path, error.message());
  return RewriteDump(folder);
}

void RewriteDump::proposed(const rewrite::Proposal& p, int64_t number) {
  pending_.reset();
  if (!status_ || (only_ != 0 && number != only_)) return;
  if (kept_.size() >= kMaxRewrites) {
    pending_.emplace();  // only counted
    return;
  }
  DumpedRewrite shown{number, p.rule.name, p.rule.docs, p.rule.sets, std::string(rewrite::name_of(p.rule.numerics)), {}, {}, {}, {}};
  for (ir::NodeId id : matched_nodes(p.match)) shown.nodes.push_back(title_of(p.graph, id));
  const auto [before, after] = results_of(p);
  const std::vector<ir::NodeId> matched = matched_nodes(p.match);
  std::vector<ir::NodeId> made(p.new_nodes.begin(), p.new_nodes.end());
  if (p.replacements.empty()) made.insert(made.end(), matched.begin(), matched.end());
  pending_ =
      Pending{std::move(shown), cut_excerpt(p.graph, matched, context_of(p, matched, made), before), cut_excerpt(p.graph, made, {}, after)};
  pending_->before.graph->opsets = pending_->after.graph->opsets = opsets_;
}

void RewriteDump::applied() {
  if (pending_) keep();
}

void RewriteDump::undone(std::string why) {
  if (!pending_) return;
  pending_->shown.number = 0;
  pending_->shown.undone = std::move(why);
  ++undone_;
  keep();
}

void RewriteDump::keep() {
  if (!pending_->before.graph) {
    ++left_out_;
    return;
  }
  const std::string stem = file_stem(pending_->shown, undone_);
  status_ = save(pending_->before, folder_ / (stem + ".before.onnx"), pending_->shown.before);
  if (status_) status_ = save(pending_->after, folder_ / (stem + ".after.onnx"), pending_->shown.after);
  kept_.push_back(std::move(pending_->shown));
  pending_.reset();
}

/// Draws the pictures. Returns a warning where Graphviz fails; else empty.
std::string RewriteDump::draw() {
  std::vector<std::string> dots;
  for (DumpedRewrite& r : kept_)
    for (DumpSide* side : {&r.before, &r.after}) dots.push_back(std::move(side->dot));
  auto svgs = render_svgs(dots);
  if (!svgs) return fmt::format("the page shows text instead of pictures: {} ({})", svgs.error()->what, svgs.error()->found);
  for (size_t i = 0; i < kept_.size(); ++i) {
    kept_[i].before.svg = std::move((*svgs)[2 * i]);
    kept_[i].after.svg = std::move((*svgs)[2 * i + 1]);
  }
  return {};
}

Result<std::vector<std::string>> RewriteDump::finish(const std::string& title, const std::vector<std::string>& headline) {
  TRY(std::move(status_));
  std::vector<std::string> warnings, lines = headline;
  if (std::string missing = draw(); !missing.empty()) warnings.push_back(std::move(missing));
  if (left_out_ > 0) {
    lines.push_back(fmt::format("The first {} rewrites are drawn; {} more are not.", kMaxRewrites, left_out_));
    warnings.push_back(fmt::format("--dump wrote the first {} rewrites; {} more were not written", kMaxRewrites, left_out_));
  }
  TRY(files::write_file(folder_ / "index.html", rewrite_page(title, lines, kept_)));
  return warnings;
}

}  // namespace tenon::cli
