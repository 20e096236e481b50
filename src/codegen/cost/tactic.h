// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/target.h"

namespace tenon::codegen {

/// A register tile of a contraction: rows of A times vectors of B. It keeps rows * vectors accumulators, one row of B and one splat.
struct Tile {
  int rows = 0, vectors = 0;
};

/// How a group of loops is cut into work.
struct LoopTactic {
  int lanes = -1;      ///< number of the axis along the lanes, of a kernel of one loop; -1: the one that most places walk by 1
  int64_t block = 0;   ///< points of the lanes' axis that one task takes
  int64_t unroll = 0;  ///< steps of a window that are written out
  int64_t least = 0;   ///< points of a task; one with fewer takes in further axes, as long as tasks are enough
  int64_t split = 0;   ///< tasks that are enough, before one takes more points
  int64_t grain = 0;   ///< loads and additions that pay for handing a task to another thread
};
/// How a contraction is cut into work.
struct ContractTactic {
  Tile tile = {};        ///< its vectors are the width of a packed panel too
  int64_t split = 0;     ///< tiles of rows that one task takes
  int64_t panels = 1;    ///< panels that one task takes
  int64_t by_rows = 0;   ///< rows from which on neighbouring tasks have the same rows, not the same panels; 0: never
  int64_t depth = 0;     ///< products that are summed before the next panel comes; 0: all of them
  int64_t prefetch = 0;  ///< prefetch distance of the packed operand in bytes
  int64_t grain = 0;     ///< floating-point operations that pay for handing a task to another thread
};
/// How attention is cut into work.
struct AttentionTactic {
  Tile tile = {};
  int64_t block = 0;  ///< keys whose scores are kept at once; up to that many take one pass
  int64_t split = 0;  ///< tasks that are enough, before keys are dealt out too
  int64_t least = 0;  ///< keys of a part
  int64_t grain = 0;  ///< floating-point operations that pay for handing a task to another thread
};
/// How a group is cut into work, as data (how groups are made is planning's: PlanLimits): lowering obeys it, and results do not depend on
/// it but for the order of sums. monostate: of steps without a kernel.
using Tactic = std::variant<std::monostate, LoopTactic, ContractTactic, AttentionTactic>;

/// Floating-point operations that outweigh the cost of handing work to another thread.
inline constexpr int64_t kFlopsWorthAThread = 1 << 18;

/// What lowering does by default.
Tactic default_tactic(const Group& group, const Target& target);
/// That of loops, whatever the group is.
LoopTactic default_loop_tactic();
/// "tile=14x2 split=8 prefetch=4096 grain=262144"; empty for groups without kernels.
std::string text_of(const Tactic& tactic);
/// The tactic with the fields that `text` gives in place of its own.
/// Errors: bad_usage for a field that such a tactic does not have, and for a number that the target cannot do.
Result<Tactic> changed(Tactic tactic, std::string_view text, const Target& target);
/// The fields in `text` that the tactic has.
std::string fields_of(std::string_view text, const Tactic& tactic);

/// Tactics that somebody else has chosen: of a tuner, or of a person.
class TacticBook {
 public:
  /// A line a node: its name, a colon, fields ("/layer.0/MatMul: tile=6x4 split=4"). They hold for the group that computes the node. `*` is
  /// every group; it takes the fields that it has. What follows `#`, and empty lines, say nothing; of two lines for one group the
  /// later holds. Errors: bad_usage, with the line.
  static Result<TacticBook> parse(std::string_view text, const std::string& place);
  /// Errors: bad_usage, with the line.
  Result<Tactic> tactic_of(const Group& group, const ir::Graph& graph, const Target& target) const;
  /// Errors: bad_usage where a line names a node that no queried group computes.
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
