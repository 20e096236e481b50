// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/block_unpacker.h"

namespace tenon::codegen {

namespace {

constexpr int64_t kCacheLine = 64;
constexpr int kGroupsOfUnit = kCodesOfUnit / BlockUnpacker::kSteps;

constexpr int kSetsOfGroup = BlockUnpacker::kSteps / kCodesOfSet;

int groups_of_word(const CodeField& field) { return field.codes_of_word() / BlockUnpacker::kSteps; }

}  // namespace

std::vector<Reg> BlockUnpacker::load(int32_t buffer, Reg at) {
  std::vector<Reg> out;
  for (int64_t v = 0; v < panels_.vectors; ++v)
    out.push_back(build().load(buffer, build().add(at, emit_.integer(v * emit_.lanes())), emit_.lanes()));
  return out;
}

void BlockUnpacker::prefetch(int32_t buffer, Reg at, int64_t width, int64_t bytes, int64_t ahead) {
  for (int64_t byte = 0; ahead > 0 && byte < bytes; byte += kCacheLine)
    build().prefetch(buffer, build().add(at, emit_.integer((byte + ahead) / width)));
}

Reg BlockUnpacker::bits_of(Reg word, Reg first, int bits, bool is_signed) {
  const Reg shifted = first == kNone ? word : build().expr(ExprOp::shift_right, {word, first});
  if (!is_signed) return build().expr(ExprOp::bit_and, {shifted, number((1 << bits) - 1)});
  const Reg above = number(kWordBits - bits);
  return build().expr(ExprOp::shift_right, {build().expr(ExprOp::shift_left, {shifted, above}), above});
}

BlockUnpacker::Scales BlockUnpacker::load_scales(Reg at) {
  const auto in_f32 = [&](std::vector<Reg> stored) {
    for (Reg& r : stored)
      if (format_.linear->scale_type != DType::f32) r = build().expr(ExprOp::cast, {r}, DType::f32);
    return stored;
  };
  Scales out{.scales = in_f32(load(panels_.scales, at)), .minima = {}};
  if (format_.linear->has_minimum) out.minima = in_f32(load(panels_.scales, build().add(at, emit_.integer(panel()))));
  return out;
}

BlockUnpacker::Scales BlockUnpacker::scales_of_sub_block(const Scales& stored, Reg codes, Reg sub_block) {
  const SubBlocks& sub = *format_.linear->sub_blocks;
  const int in_word = kWordBits / sub.bits();  // a power of two
  const Reg word = build().add(divided(sub_block, in_word), emit_.integer(code_words(format_)));
  const std::vector<Reg> words = load(panels_.codes, build().add(codes, multiplied(word, panel())));
  const Reg place = multiplied(low_bits(sub_block, in_word), sub.bits());
  const auto products = [&](const std::vector<Reg>& numbers, int further, int bits, bool is_signed) {
    const Reg first = build().expr(ExprOp::cast, {build().add(place, emit_.integer(further))}, DType::i32);
    std::vector<Reg> out;
    for (size_t v = 0; v < numbers.size(); ++v)
      out.push_back(build().mul(numbers[v], build().expr(ExprOp::cast, {bits_of(words[v], first, bits, is_signed)}, DType::f32)));
    return out;
  };
  Scales out{.scales = products(stored.scales, 0, sub.scale_bits, sub.is_signed), .minima = {}};
  if (sub.minimum_bits > 0) out.minima = products(stored.minima, sub.scale_bits, sub.minimum_bits, false);
  return out;
}

void BlockUnpacker::set_offset(Scales& scales) {
  const int offset = format_.linear->offset;
  for (const Reg d : scales.scales)
    if (offset != 0) scales.minima.push_back(build().mul(d, emit_.constant({DType::f32, 1}, *Expr::constant(DType::f32, offset))));
}

BlockUnpacker::FieldWords BlockUnpacker::load_field(Reg codes, Reg group, const CodeField& field) {
  const int per_word = groups_of_word(field);
  Reg word = divided(group, per_word);
  if (field.bits != format_.linear->code_bits) {
    const Reg unit = multiplied(divided(group, kGroupsOfUnit), format_.linear->code_bits);
    const Reg inside = divided(low_bits(group, kGroupsOfUnit), per_word);
    word = build().add(unit, build().add(inside, emit_.integer(field.first_word)));
  }
  FieldWords out{.field = field, .words = load(panels_.codes, build().add(codes, multiplied(word, panel())))};
  if (per_word == 1) return out;
  const Reg first = build().expr(ExprOp::cast, {multiplied(low_bits(group, per_word), int64_t{kSetsOfGroup} * field.bits)}, DType::i32);
  for (Reg& r : out.words) r = build().expr(ExprOp::shift_right, {r, first});
  return out;
}

std::vector<Reg> BlockUnpacker::join_fields(const FieldWords& low, const FieldWords& high, int set) {
  std::vector<Reg> out;
  const auto bytes = [&](const FieldWords& of, Reg word) {
    if (set > 0) word = build().expr(ExprOp::shift_right, {word, number(int64_t{set} * of.field.bits)});
    if (of.field.position > 0) word = build().expr(ExprOp::shift_left, {word, number(of.field.position)});
    const int64_t mask = int64_t{((1 << of.field.bits) - 1) << of.field.position} * 0x01010101;
    return build().expr(ExprOp::bit_and, {word, number(mask)});
  };
  for (size_t v = 0; v < low.words.size(); ++v)
    out.push_back(build().expr(ExprOp::bit_or, {bytes(low, low.words[v]), bytes(high, high.words[v])}));
  return out;
}

BlockUnpacker::GroupCodes BlockUnpacker::load_group(Reg codes, Reg group) {
  const int code_bits = format_.linear->code_bits;
  if (!is_in_words(*format_.linear)) return {.bytes = build().add(codes, multiplied(group, kSteps * panel()))};
  const FieldWords low = load_field(codes, group, low_field(code_bits));
  if (low.field.bits == code_bits) return {.words = {low.words}, .field = low.field};
  const FieldWords high = load_field(codes, group, high_field(code_bits));
  GroupCodes out{.field = {.bits = 8, .first_word = 0, .position = 0}};
  for (int set = 0; set < kSetsOfGroup; ++set) out.words.push_back(join_fields(low, high, set));
  return out;
}

std::vector<Reg> BlockUnpacker::codes_of_step(const GroupCodes& group, int step) {
  if (group.bytes != kNone) return load(panels_.codes, build().add(group.bytes, emit_.integer(step * panel())));
  const auto sets = static_cast<int>(group.words.size());
  std::vector<Reg> out = group.words[static_cast<size_t>(sets == 1 ? 0 : step / kCodesOfSet)];
  const int bit = group.field.bit_of(sets == 1 ? step : step % kCodesOfSet);
  for (Reg& word : out) word = bits_of(word, bit == 0 ? kNone : number(bit), group.field.bits, false);
  return out;
}

std::vector<Reg> BlockUnpacker::words_of_bytes(Reg first) {
  std::vector<Reg> out;
  for (int step = 0; step < kCodesOfSet; ++step) {
    const std::vector<Reg> codes = load(panels_.codes, build().add(first, emit_.integer(step * panel())));
    for (size_t v = 0; v < codes.size(); ++v) {
      const Reg wide = build().expr(ExprOp::cast, {codes[v]}, DType::i32);
      const Reg byte = step + 1 < kCodesOfSet ? build().expr(ExprOp::bit_and, {wide, number(0xff)}) : wide;
      if (step == 0) out.push_back(byte);
      else out[v] = build().expr(ExprOp::bit_or, {out[v], build().expr(ExprOp::shift_left, {byte, number(int64_t{8} * step)})});
    }
  }
  // From -128 to 127 to 0 to 255.
  for (Reg& word : out) word = build().expr(ExprOp::bit_xor, {word, number(static_cast<int32_t>(0x80808080))});
  return out;
}

std::vector<Reg> BlockUnpacker::words_of_set(const GroupCodes& group, int set) {
  if (group.bytes != kNone) return words_of_bytes(build().add(group.bytes, emit_.integer(set * kCodesOfSet * panel())));
  if (group.words.size() > 1) return group.words[static_cast<size_t>(set)];
  std::vector<Reg> out = group.words[0];
  const int64_t mask = int64_t{(1 << group.field.bits) - 1} * 0x01010101;
  for (Reg& word : out) {
    if (set > 0) word = build().expr(ExprOp::shift_right, {word, number(int64_t{set} * group.field.bits)});
    word = build().expr(ExprOp::bit_and, {word, number(mask)});
  }
  return out;
}

/// Minima for codes from 0 on, where those of the format begin at -128.
void BlockUnpacker::count_from_zero(Scales& scales) {
  if (is_in_words(*format_.linear)) return;
  const Reg least = emit_.constant({DType::f32, 1}, *Expr::constant(DType::f32, -128));
  const bool none = scales.minima.empty();
  for (size_t v = 0; v < scales.scales.size(); ++v) {
    if (none) scales.minima.push_back(build().mul(scales.scales[v], least));
    else scales.minima[v] = build().fma(scales.scales[v], least, scales.minima[v]);
  }
}

std::vector<Reg> BlockUnpacker::each_group(const Block& block, Reg begin, int64_t count, std::vector<Reg> carried, const GroupBody& body,
                                           int unroll) {
  const bool words = is_in_words(*format_.linear);
  const int64_t width = words ? int64_t{sizeof(uint32_t)} : 1;
  const int64_t of_block = panel() * (words ? panel_words(format_) : format_.elements), groups_of_block = format_.elements / kSteps;
  return build().loop(
      begin, build().add(begin, emit_.integer(count)), emit_.integer(1), std::move(carried),
      [&](Reg g, const std::vector<Reg>& inside) {
        const Reg streamed = build().add(block.codes, divided(multiplied(g, of_block), groups_of_block));
        prefetch(panels_.codes, streamed, width, of_block * width / groups_of_block, panels_.prefetch);
        std::vector<Reg> results = inside;
        body(build().add(block.first_element, multiplied(g, kSteps)), load_group(block.codes, g), results);
        return results;
      },
      unroll);
}

std::vector<Reg> BlockUnpacker::each_scale(Reg panel_at, Reg depth, std::vector<Reg> carried, const GroupsBody& body) {
  const SubBlocks* const sub = format_.linear->sub_blocks;
  const int64_t elements = scale_elements(format_), scales_of_block = panel() * scale_parts(format_);
  const int64_t scale_width = bytes_of(format_.linear->scale_type, 1);
  const int64_t codes_of_block = panel() * (is_in_words(*format_.linear) ? panel_words(format_) : elements);
  const Reg first_block = divided(panel_at, elements * panel());
  return build().loop(emit_.integer(0), divided(depth, elements), emit_.integer(1), std::move(carried),
                      [&](Reg b, const std::vector<Reg>& inside) {
                        const Reg block_number = build().add(first_block, b), scale_at = multiplied(block_number, scales_of_block);
                        prefetch(panels_.scales, scale_at, scale_width, scales_of_block * scale_width, panels_.prefetch / kSteps);
                        Scales scales = load_scales(scale_at);
                        const Block block{.first_element = multiplied(b, elements), .codes = multiplied(block_number, codes_of_block)};
                        if (!sub) {
                          set_offset(scales);
                          return body({block, emit_.integer(0), elements / kSteps, std::move(scales)}, inside);
                        }
                        return build().loop(emit_.integer(0), emit_.integer(elements / sub->elements), emit_.integer(1), inside,
                                            [&](Reg j, const std::vector<Reg>& of_block) {
                                              Scales of_sub = scales_of_sub_block(scales, block.codes, j);
                                              set_offset(of_sub);
                                              const int64_t groups = sub->elements / kSteps;
                                              return body({block, multiplied(j, groups), groups, std::move(of_sub)}, of_block);
                                            });
                      });
}

std::vector<Reg> BlockUnpacker::each_step(Reg panel_at, Reg depth, std::vector<Reg> carried, const Steps& body) {
  return each_scale(panel_at, depth, std::move(carried), [&](const Groups& groups, const std::vector<Reg>& inside) {
    const Scales& scales = groups.scales;
    return each_group(groups.block, groups.begin, groups.count, inside, [&](Reg first, const GroupCodes& codes, std::vector<Reg>& results) {
      const auto weights = [&](int step) {
        std::vector<Reg> out = codes_of_step(codes, step);
        for (size_t v = 0; v < out.size(); ++v) {
          const Reg code = build().expr(ExprOp::cast, {out[v]}, DType::f32);
          out[v] = scales.minima.empty() ? build().mul(code, scales.scales[v]) : build().fma(code, scales.scales[v], scales.minima[v]);
        }
        return out;
      };
      body(first, weights, results);
    });
  });
}

std::vector<Reg> BlockUnpacker::each_run(Reg panel_at, Reg depth, const Runs& runs, std::vector<Reg> carried, const ByteSteps& steps,
                                         const RunEnd& end) {
  const int64_t groups_of_run = runs.elements / kSteps;
  return each_scale(panel_at, depth, std::move(carried), [&](Groups groups, const std::vector<Reg>& inside) {
    count_from_zero(groups.scales);
    const auto run = [&](Reg begin, std::vector<Reg> results) {
      const Reg zero = build().splat(number(0), emit_.lanes());
      const std::vector<Reg> added = each_group(
          groups.block, begin, groups_of_run, std::vector<Reg>(runs.sums, zero),
          [&](Reg first, const GroupCodes& codes, std::vector<Reg>& to) {
            steps(first, [&](int set) { return words_of_set(codes, set); }, to);
          },
          runs.unrolled ? static_cast<int>(groups_of_run) : 1);
      const Reg first = build().add(groups.block.first_element, multiplied(begin, kSteps));
      end({.first = first, .scales = groups.scales.scales, .minima = groups.scales.minima}, added, results);
      return results;
    };
    if (groups.count == groups_of_run) return run(groups.begin, inside);
    return build().loop(groups.begin, build().add(groups.begin, emit_.integer(groups.count)), emit_.integer(groups_of_run), inside, run);
  });
}

}  // namespace tenon::codegen
