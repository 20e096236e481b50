// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/target.h"

namespace tenon::codegen {

/// A register tile of a contraction: rows of A times vectors of B. It keeps rows * vectors accumulators, one row of B and one splat.
struct Tile {
  int rows = 0, vectors = 0;
};

/// How a group is cut into work, as data (how groups are made is planning's: PlanLimits): lowering obeys it, and results do not depend on
/// it but for the order of sums. A kind of group reads the fields that text_of prints for it.
struct Tactic {
  Tile tile = {};        ///< contractions and attention: the register tile; its vectors are the width of a packed panel too
  int64_t split = 0;     ///< contractions: tiles of rows that one task takes. Loops: tasks that are enough, before one takes more points.
                         ///< Attention: tasks that are enough, before keys are dealt out too
  int64_t block = 0;     ///< attention: keys whose scores are kept at once; up to that many take one pass. Loops: points of the lanes' axis
                         ///< that one task takes
  int lanes = -1;        ///< loops: number of the axis along the lanes, of a kernel of one loop; -1: the one that most places walk by 1
  int64_t unroll = 0;    ///< loops: steps of a window that are written out
  int64_t least = 0;     ///< loops: points of a task; one with fewer takes in further axes, as long as tasks are enough.
                         ///< Attention: keys of a part
  int64_t by_rows = 0;   ///< contractions: rows from which on neighbouring tasks have the same rows, not the same panels; 0: never
  int64_t panels = 1;    ///< contractions: panels that one task takes
  int64_t depth = 0;     ///< contractions: products that are summed before the next panel comes; 0: all of them
  int64_t prefetch = 0;  ///< contractions: bytes that the packed operand is asked for ahead
  int64_t grain = 0;     ///< work that pays for handing it to another thread: floating point operations, of loops points that load and add
};

/// Floating-point operations that outweigh the cost of handing work to another thread.
inline constexpr int64_t kFlopsWorthAThread = 1 << 18;

/// What lowering does by default.
Tactic default_tactic(const Group& group, const Target& target);
/// That of loops, whatever the group is.
Tactic default_loop_tactic();
/// "tile=14x2 split=8 prefetch=4096 grain=262144"; empty for groups without kernels.
std::string text_of(const Tactic& tactic, GroupKind kind);
/// The tactic with the fields that `text` gives in place of its own.
/// Errors: bad_usage for a field that the kind of group does not have, and for a number that the target cannot do.
Result<Tactic> changed(Tactic tactic, GroupKind kind, std::string_view text, const Target& target);
/// The fields in `text` that the kind of group has.
std::string fields_of(std::string_view text, GroupKind kind);

/// Tactics that somebody else has chosen: of a tuner, or of a person.
class TacticBook {
 public:
  /// A line a node: its name, a colon, fields ("/layer.0/MatMul: tile=6x4 split=4"). They hold for the group that computes the node. `*` is
  /// every group; it takes the fields that it has. What follows `#`, and empty lines, say nothing; of two lines for one group the
  /// later holds. Errors: bad_usage, with the line.
  static Result<TacticBook> parse(std::string_view text, const std::string& place);
  /// Errors: bad_usage, with the line.
  Result<Tactic> tactic_of(const Group& group, const ir::Graph& graph, const Target& target) const;
  /// Errors: bad_usage where a line named a node that no group computes that was asked for.
  Result<void> check_used() const;

 private:
  struct Line {
    std::string place, node, fields;
  };
  static Result<Line> line_of(std::string_view text, std::string place);

  std::vector<Line> lines_;
  mutable std::set<size_t> used_;
};

}  // namespace tenon::codegen
