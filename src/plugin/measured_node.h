// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::plugin {

/// What a build that measures found of nodes that are alike and that a plugin may run.
struct MeasuredNode {
  struct Candidate {
    std::string name;          ///< "tactic 2 (quick), channels-last", "Tenon's own code"
    std::optional<double> ns;  ///< of a run; none: it was dropped
    std::string dropped;       ///< why; empty: it was not
  };
  std::string plugin;  ///< "acme::Conv"
  std::string node;    ///< the first of them
  std::string call;    ///< op, types and attributes
  size_t nodes = 0;    ///< how many there are
  std::vector<Candidate> candidates;
  size_t chosen = 0;  ///< of the candidates; the first one is what a build takes that does not measure
  std::string note;   ///< what was not tried, or why nothing was measured; may be empty

  /// "tactic 2 (quick), channels-last: 1.2 us, compared with tactic 0, row-major: 60.0 us"; the note where nothing was measured.
  std::string text() const;
};

/// "1.2 us", "-".
std::string time_text(std::optional<double> ns);

/// Numbered fields for ever; unknown ones are skipped. Errors of decode: bad_file.
std::string encode(std::span<const MeasuredNode> nodes);
Result<std::vector<MeasuredNode>> decode_measured(std::string_view bytes);

}  // namespace tenon::plugin
