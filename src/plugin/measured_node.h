// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::plugin {

/// The measurements of a build with --measure for a set of equal nodes that a plugin may run.
struct MeasuredNode {
  struct Candidate {
    std::string name;          ///< "tactic 2 (quick), channels-last", "Tenon's own code"
    std::optional<double> ns;  ///< time of a run; none: the candidate was dropped
    std::string dropped;       ///< why it was dropped; empty: it was not
  };
  std::string plugin;  ///< name of its op: "acme::Conv"
  std::string node;    ///< name of the first of the nodes
  std::string call;    ///< op, types and attributes
  size_t nodes = 0;    ///< number of the nodes
  std::vector<Candidate> candidates;
  size_t chosen = 0;  ///< index of the chosen candidate; the first candidate is the choice of builds without --measure
  std::string note;   ///< which candidates were not measured, and why; may be empty

  /// "tactic 2 (quick), channels-last: 1.2 us, compared with tactic 0, row-major: 60.0 us"; the note where nothing was measured.
  std::string text() const;
};

/// "1.2 us"; "-" for none.
std::string time_text(std::optional<double> ns);

/// An encoding with field numbers that never change; unknown fields are skipped. Errors of decode: bad_file.
std::string encode(std::span<const MeasuredNode> nodes);
Result<std::vector<MeasuredNode>> decode_measured(std::string_view bytes);

}  // namespace tenon::plugin
