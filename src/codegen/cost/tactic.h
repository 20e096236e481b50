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

/// A register tile of a contraction: `rows` rows of A times `vectors` registers of B. It needs rows * vectors accumulators, `vectors`
/// registers for B, and one for an element of A in all lanes.
struct Tile {
  int rows = 0, vectors = 0;
};

/// How a group of loops is split into tasks and vectorised. Fields have the names that they have in text.
struct LoopTactic {
  int lanes = -1;      ///< axis to vectorise, in a kernel of one nest; -1: the one along which most accesses are contiguous
  int64_t block = 0;   ///< points of the vectorised axis in a task
  int64_t unroll = 0;  ///< a window of at most so many steps is unrolled
  int64_t least = 0;   ///< least points of a task: axes are added to tasks with fewer, as long as `split` tasks are left
  int64_t split = 0;   ///< number of tasks that is enough
  int64_t grain = 0;   ///< least loads and additions that are worth another thread
};
/// How a contraction is split into register tiles and tasks.
struct ContractTactic {
  Tile tile = {};      ///< `vectors` is the width of a packed panel too
  int64_t split = 0;   ///< tiles of rows in a task
  int64_t panels = 1;  ///< panels in a task
  int64_t by_rows =
      0;  ///< with at least so many rows, neighbouring tasks have the same rows; with fewer, the same panels. 0: always the same panels
  int64_t depth = 0;     ///< block of the depth that is summed before the next panel follows; 0: all of the depth
  int64_t prefetch = 0;  ///< prefetch distance of the packed operand in bytes
  int64_t grain = 0;     ///< least floating-point operations that are worth another thread
};
/// How attention is split into tasks and blocks.
struct AttentionTactic {
  Tile tile = {};
  int64_t block = 0;  ///< keys whose scores are in scratch memory at once
  int64_t split = 0;  ///< number of tasks that is enough; with fewer, keys are split among tasks too
  int64_t least = 0;  ///< least keys of a part
  int64_t grain = 0;  ///< least floating-point operations that are worth another thread
  int64_t few = 0;    ///< in plans that sum in one order: with at most so many queries, keys lie along the lanes
};
/// How lowering splits a group into tasks and tiles, as data. Results do not depend on it, but for the order of sums. monostate: of steps
/// without a kernel. (PlanLimits decide which groups there are.)
using Tactic = std::variant<std::monostate, LoopTactic, ContractTactic, AttentionTactic>;

/// Floating-point operations that are worth another thread.
inline constexpr int64_t kFlopsWorthAThread = 1 << 18;

/// The tactic of a group where nobody chose another.
Tactic default_tactic(const Group& group, const Target& target);
/// The default of groups of loops.
LoopTactic default_loop_tactic();
/// "tile=14x2 split=8 prefetch=4096 grain=262144"; empty for groups without kernels.
std::string text_of(const Tactic& tactic);
/// The tactic with fields replaced by those in `text`. Errors: bad_usage for a field that this kind of tactic lacks, and for a value that
/// is out of range on the target.
Result<Tactic> override_fields(Tactic tactic, std::string_view text, const Target& target);
/// Those fields in `text` that this kind of tactic has.
std::string known_fields(std::string_view text, const Tactic& tactic);

/// Tactics by node, as `tenon tune` or a user wrote them to a file.
class TacticBook {
 public:
  /// Reads lines "/layer.0/MatMul: tile=6x4 split=4": the name of a node, and fields for the group that computes it. The name `*` stands
  /// for all groups, each of which takes the fields that it has. `#` starts a comment. A later line overrides an earlier one. place: name
  /// of the file, for errors. Errors: bad_usage, with the line.
  static Result<TacticBook> parse(std::string_view text, const std::string& place);
  /// The default tactic of the group with the fields of its lines. Errors: bad_usage, with the line.
  Result<Tactic> tactic_of(const Group& group, const ir::Graph& graph, const Target& target) const;
  /// Errors: bad_usage where a line names a node that no group computes for which `tactic_of` was called.
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
