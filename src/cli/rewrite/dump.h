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

/// One side of a rewrite as it is shown.
struct DumpSide {
  std::string file;       ///< beside the page; empty: ONNX cannot express it
  std::string dot, text;  ///< the graph for Graphviz, and in its text form
  std::string svg;        ///< empty: the text is shown instead
  std::string unsaid;     ///< why there is no file
  int64_t nodes = 0;      ///< of the rewrite itself; what is around it is not counted
};
struct DumpedRewrite {
  int64_t number = 0;  ///< from 1; --stop-after NUMBER does it last. 0: it was undone
  std::string rule, docs, sets, numerics;
  std::vector<std::string> nodes;  ///< "name (Op)" of what matched, the root first
  std::string undone;              ///< why it was not carried out
  DumpSide before, after;
};

/// Writes rewrites as they happen: NNN-RULE.before.onnx and NNN-RULE.after.onnx, and index.html with the pictures of all.
/// The old side is taken before a rewrite is carried out; afterwards it is gone. At most `kDrawn` rewrites are kept.
class RewriteDump {
 public:
  static constexpr size_t kDrawn = 500;

  /// The folder is made where it is missing; an earlier dump in it is replaced. Errors: bad_usage (anything else lies there), write_failed.
  static Result<RewriteDump> into(const std::filesystem::path& folder);
  /// Opset imports of the model, for the files.
  void set_opsets(std::vector<std::pair<std::string, int64_t>> opsets) { opsets_ = std::move(opsets); }
  /// Rewrites with other numbers are not kept.
  void only(int64_t number) { only_ = number; }

  /// Both sides are in the graph. `number` is what the rewrite gets if it is carried out.
  void proposed(const rewrite::Proposal& proposal, int64_t number);
  /// The last proposal was carried out.
  void applied();
  /// The last proposal was wrong, and is taken back.
  void undone(std::string why);

  /// Draws, and writes the page. headline: lines above the rewrites. Returns what is worth a warning.
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
