// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/analysis/contraction.h"
#include "codegen/cost/tactic.h"
#include "codegen/lower/row_tiles.h"

namespace tenon::codegen {

/// Whole tiles that no part of a region cuts.
struct Units {
  Dim count;  ///< a part has some neighbouring ones
  Dim steps;  ///< of the tiled axis in one of them, or where others stand before it of those
  Dim parts;
};

/// Of the rows, where the group is in a region: its parts where they are known and equal, else its units. nullopt: neither are whole
/// tiles. tiled: the number of the rows' axis that tiles cut.
std::optional<Units> units_of(const Contraction& roles, size_t tiled, const Group& group, const ContractTactic& tactic);

/// Panels [panel, panels_end), and of each all of `tiles` tiles from `tile` on, but of the first bundle and the last only those in [from,
/// to), numbered bundle after bundle.
struct TaskRange {
  Reg panel = kNone, panels_end = kNone, tile = kNone, tiles = kNone;
  Reg from = kNone, to = kNone;
};

/// How the tiles and panels of a contraction are dealt out to its tasks, evenly: of ten tiles by at most four, tasks take 3, 3 and 4.
class ContractTasks {
 public:
  /// What is dealt out. panel: lanes of one; bundle: panels that a task takes together.
  struct Whole {
    const Contraction& roles;
    const RowTiles& tiles;
    size_t tiled = 0;
    std::optional<Units> units;
    int64_t panel = 1, bundle = 1;
  };
  ContractTasks(KernelEmitter& emit, const Whole& whole, const ContractTactic& tactic);

  /// Of the tasks: parts of the rows, batch, groups of panels (and of tiles within a panel), chunks of a part's tiles.
  std::vector<Dim> extents() const;
  Dim panels() const { return panels_; }
  /// Panels of a task at most, of which it may begin and end within a bundle.
  int64_t most_panels() const { return (most_bundles_ + 1) * bundle_; }
  /// What the task with these numbers, one of each extent, takes.
  TaskRange deal(const std::vector<Reg>& at);

 private:
  void set_groups(const ContractTactic& tactic, Dim by_rows);
  TaskRange tiles_of(const std::vector<Reg>& at);
  Reg begin_of(Reg k, Dim parts, Reg all);

  KernelEmitter& emit_;
  const std::vector<JointAxis>& batch_;
  const std::optional<Units> units_;
  const int64_t bundle_, most_bundles_;
  Dim tiles_ = 1, panels_ = 1, bundles_ = 1;  ///< of all rows and lanes
  Dim tiles_of_unit_ = 1;
  Dim parts_ = 1, chunks_ = 1;  ///< of the rows, and of a part
  Dim groups_ = 1;
};

}  // namespace tenon::codegen
