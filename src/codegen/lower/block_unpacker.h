// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "base/blocks/panel_words.h"
#include "codegen/lower/kernel_emitter.h"

namespace tenon::codegen {

/// Emits the unpacking of panels of blocks in registers: weights are code * scale + minimum, rounded once. The panels are those of
/// ir::Constant::PackBlocks.
class BlockUnpacker {
 public:
  static constexpr int kSteps = 8;  ///< of the depth that are unpacked together

  struct Panels {
    const BlockFormat* format;
    int32_t codes, scales;  ///< buffers
    int vectors;            ///< registers beside each other in a panel
    int64_t prefetch;       ///< bytes of codes by which reads are prefetched; 0: they are not
  };
  /// kSteps steps of the depth from `first` on; weights: of one of them, a register each. `carried` are the values of the loop.
  using Steps = std::function<void(Reg first, const std::function<std::vector<Reg>(int step)>& weights, std::vector<Reg>& carried)>;

  /// Elements that share a scale, as code * scale + minimum with codes from 0 on.
  struct Run {
    Reg first;                        ///< of the depth
    std::vector<Reg> scales, minima;  ///< f32, a register each; minima: empty where all are 0
  };
  /// kSteps steps of a run: `words` are 4 codes, as bytes, of the first half (set 0) or the second one (1), a register each.
  using ByteSteps = std::function<void(Reg first, const std::function<std::vector<Reg>(int set)>& words, std::vector<Reg>& sums)>;
  /// After a run: its sums, and the values of the loop over runs.
  using RunEnd = std::function<void(const Run& run, const std::vector<Reg>& sums, std::vector<Reg>& carried)>;

  BlockUnpacker(KernelEmitter& emit, const Panels& panels) : emit_(emit), panels_(panels), format_(*panels.format) {}

  /// The body for all steps of the panel whose elements begin at `panel_at`, in order. depth: whole blocks. Returns the carried values.
  std::vector<Reg> each_step(Reg panel_at, Reg depth, std::vector<Reg> carried, const Steps& body);
  struct Runs {
    int elements;  ///< of a run
    size_t sums;   ///< i32, which begin with 0 in each run
    bool unrolled = false;
  };
  /// The same run by run: `steps` adds to the run's sums, and `end` takes them.
  std::vector<Reg> each_run(Reg panel_at, Reg depth, const Runs& runs, std::vector<Reg> carried, const ByteSteps& steps, const RunEnd& end);

 private:
  /// Registers of f32; minima are empty where the format has none.
  struct Scales {
    std::vector<Reg> scales, minima;
  };
  /// Elements with the same stored scale.
  struct Block {
    Reg first_element, codes;  ///< codes: of its first byte or word, as an index into the buffer
  };
  /// The words that hold a field of eight codes, the first one in the lowest bits.
  struct FieldWords {
    CodeField field;
    std::vector<Reg> words;  ///< a register each
  };
  /// Eight codes.
  struct GroupCodes {
    std::vector<std::vector<Reg>> words = {};  ///< of all eight, or two sets of four in bytes
    CodeField field = {};                      ///< in these words
    Reg bytes = kNone;                         ///< in memory: where the first ones are, an index into the buffer
  };

  TileBuilder& build() { return emit_.build(); }
  int64_t panel() const { return int64_t{panels_.vectors} * emit_.lanes(); }
  Reg number(int64_t value) { return emit_.constant({DType::i32, 1}, *Expr::integer(DType::i32, value)); }
  /// a / by, of indices.
  Reg divided(Reg a, int64_t by) { return by == 1 ? a : build().expr(ExprOp::div, {a, emit_.integer(by)}); }
  Reg low_bits(Reg a, int64_t power_of_two) { return build().expr(ExprOp::bit_and, {a, emit_.integer(power_of_two - 1)}); }
  Reg multiplied(Reg a, int64_t by) { return build().mul(a, emit_.integer(by)); }

  std::vector<Reg> load(int32_t buffer, Reg at);
  void prefetch(int32_t buffer, Reg at, int64_t width, int64_t bytes, int64_t ahead);
  Reg bits_of(Reg word, Reg first, int bits, bool is_signed);

  Scales load_scales(Reg at);
  Scales scales_of_sub_block(const Scales& stored, Reg codes, Reg sub_block);
  void set_offset(Scales& scales);

  /// Groups of eight codes that have the same scales: the first one of the block, and how many follow.
  struct Groups {
    Block block;
    Reg begin;
    int64_t count;
    Scales scales;
  };
  using GroupsBody = std::function<std::vector<Reg>(Groups groups, const std::vector<Reg>& carried)>;
  using GroupBody = std::function<void(Reg first, const GroupCodes& codes, std::vector<Reg>& carried)>;

  std::vector<Reg> each_scale(Reg panel_at, Reg depth, std::vector<Reg> carried, const GroupsBody& body);
  std::vector<Reg> each_group(const Block& block, Reg begin, int64_t count, std::vector<Reg> carried, const GroupBody& body,
                              int unroll = 1);
  FieldWords load_field(Reg codes, Reg group, const CodeField& field);
  /// Four codes, in bytes.
  std::vector<Reg> join_fields(const FieldWords& low, const FieldWords& high, int set);
  GroupCodes load_group(Reg codes, Reg group);
  std::vector<Reg> codes_of_step(const GroupCodes& group, int step);
  std::vector<Reg> words_of_set(const GroupCodes& group, int set);
  std::vector<Reg> words_of_bytes(Reg first);
  void count_from_zero(Scales& scales);

  KernelEmitter& emit_;
  Panels panels_;
  const BlockFormat& format_;
};

}  // namespace tenon::codegen
