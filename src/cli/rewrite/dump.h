// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/rewrite/excerpt.h"
#include "rewrite/driver/driver.h"

namespace tenon::cli {

/// One side of a rewrite, for the page.
struct DumpSide {
  std::string file;            ///< beside the page; empty: ONNX cannot express it
  std::string dot, text;       ///< the graph for Graphviz, and in its text form
  std::string svg;             ///< empty: the text is shown instead
  std::string no_file_reason;  ///< why no ONNX file could be written; empty: there is one
  int64_t nodes = 0;           ///< number of nodes of the rewrite, without context
};
/// A rewrite, for the page.
struct DumpedRewrite {
  int64_t number = 0;  ///< from 1, as --stop-after counts. 0: it was undone
  std::string rule, docs, sets, numerics;
  std::vector<std::string> nodes;  ///< the matched nodes as "name (Op)", the root first
  std::string undone;              ///< why it was undone; empty: it was applied
  DumpSide before, after;
};

/// Writes rewrites as they happen: NNN-RULE.before.onnx and NNN-RULE.after.onnx, and index.html with the pictures of all.
/// The old side is copied before a rewrite is applied, because it is erased then. At most `kMaxRewrites` rewrites are kept.
class RewriteDump {
 public:
  static constexpr size_t kMaxRewrites = 500;

  /// The folder is made where it is missing; an earlier dump in it is replaced. Errors: bad_usage (anything else lies there), write_failed.
  static Result<RewriteDump> into(const std::filesystem::path& folder);
  /// Opset imports of the model, for the files.
  void set_opsets(std::vector<std::pair<std::string, int64_t>> opsets) { opsets_ = std::move(opsets); }
  /// Keeps only the rewrite of this number.
  void only(int64_t number) { only_ = number; }

  /// To be called while both sides are in the graph. number: that of the rewrite if it is applied.
  void proposed(const rewrite::Proposal& proposal, int64_t number);
  /// To be called when the last proposal was applied.
  void applied();
  /// To be called when the last proposal was wrong and is undone.
  void undone(std::string why);

  /// Draws, and writes the page. headline: lines above the rewrites. Returns warnings.
  /// Errors: write_failed, also of the files before.
  Result<std::vector<std::string>> finish(const std::string& title, const std::vector<std::string>& headline);
  size_t size() const { return kept_.size(); }

 private:
  explicit RewriteDump(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void keep();
  std::string draw();

  std::filesystem::path folder_;
  std::vector<std::pair<std::string, int64_t>> opsets_;
  int64_t only_ = 0;
  struct Pending {
    DumpedRewrite shown;
    Excerpt before, after;
  };
  std::optional<Pending> pending_;
  std::vector<DumpedRewrite> kept_;
  int64_t left_out_ = 0, undone_ = 0;
  Result<void> status_;
};

}  // namespace tenon::cli
