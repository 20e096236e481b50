// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/contract_tiling.h"
#include "codegen/lower/depth_range.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// Where a contraction reads and writes: offsets that move with batch, rows and lanes, and the epilogue on finished registers of sums.
class ContractPlaces {
 public:
  ContractPlaces(KernelEmitter& emit, const Group& group, const Tiling& tiling);

  /// In elements. kNone: 0.
  struct At {
    Reg rows = kNone;                 ///< of the rows operand
    Reg scale = kNone;                ///< of what it is multiplied by
    Reg lanes = kNone;                ///< of the packed operand
    DepthSteps depth;                 ///< that count
    std::vector<Reg> results, reads;  ///< of the epilogue, else the sum
    std::vector<Reg> masks;           ///< one a register of the panel; kNone: all lanes
  };
  Result<At> start();
  /// Along an axis of the batch, rows or lanes.
  At moved(At at, const JointAxis& axis, Reg steps);
  /// Steps of the rows operand.
  Dim rows_step(const JointAxis& axis) const { return step(rows_place_, axis); }
  int32_t rows_buffer() const { return rows_buffer_; }
  /// Steps of the scale, and -1 where there is none.
  Dim scale_step(const JointAxis& axis) const { return scale_place_ ? step(*scale_place_, axis) : Dim(0); }
  int32_t scale_buffer() const { return scale_buffer_; }

  /// An epilogue that needs many registers, which the sums of a tile would leave none of.
  bool is_heavy() const { return heavy_; }
  /// Runs the epilogue on register `v` of a row, whose sums are one register a column, and stores what it gives.
  Result<void> finish(const At& at, int v, std::span<const Reg> sums);

 private:
  struct Read {
    int32_t buffer = -1;  ///< -1: the sum itself
    EpilogueRead from;
  };
  struct Written {
    int32_t buffer = -1;
    Affine place;
    DType stored = DType::f32;
  };
  static Dim step(const Affine& place, const JointAxis& axis) { return place.coefficients[axis.axes.back()]; }
  Reg offset(const Affine& place) { return place.offset == Dim(0) ? kNone : emit_.dim(place.offset); }
  Result<Reg> start_of(const Read& read);
  Result<Reg> load(int k, const At& at, int v, std::span<const Reg> sums);
  Reg place_of(const Affine& place, Reg base, int v);
  MemoryOptions memory_of(const Affine& place, Reg mask);

  KernelEmitter& emit_;
  const JointAxis lane_axis_;
  const Epilogue* epilogue_ = nullptr;
  int32_t rows_buffer_ = -1, scale_buffer_ = -1;
  Affine rows_place_;
  std::optional<Affine> scale_place_;
  std::vector<Read> reads_;
  std::vector<Written> results_;
  bool heavy_ = false;
};

}  // namespace tenon::codegen
