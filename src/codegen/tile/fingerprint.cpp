// SPDX-License-Identifier: Apache-2.0
#include "codegen/tile/fingerprint.h"

#include <bit>
#include <type_traits>

namespace tenon::codegen {
namespace {

/// A kernel's fields, one word each; lists begin with their length. A structured binding names all fields of a struct, so that one that is
/// added does not compile until it is here too.
class Words {
 public:
  template <class... T>
  void put(const T&... values) {
    (one(values), ...);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }

 private:
  template <class T>
    requires(std::is_integral_v<T> || std::is_enum_v<T>)
  void one(T value) {
    words_.push_back(static_cast<uint64_t>(value));
  }
  void one(double value) { words_.push_back(std::bit_cast<uint64_t>(value)); }
  void one(const std::string& text) { list(text); }
  template <class T>
  void one(const std::vector<T>& values) {
    list(values);
  }
  void list(const auto& values) {
    one(values.size());
    for (const auto& v : values) one(v);
  }

  void one(const TileType& t) {
    const auto& [element, lanes] = t;
    put(element, lanes);
  }
  void one(const Buffer& b) {
    const auto& [kind, dtype, scratch_count, argument, written] = b;
    put(kind, dtype, scratch_count, argument, written);
  }
  void one(const Contract& c) {
    const auto& [rows, vectors, lanes, a, b, a_offset, a_row_stride, a_k_stride, rows_per_line, a_line_stride, b_offset, b_k_stride, depth,
                 b_mask, scale, scale_offset, scale_k_stride, accumulator, products, in_order, prefetch_b_bytes, prefetch_from,
                 accumulators_in, accumulators_out] = c;
    put(rows, vectors, lanes, a, b, a_offset, a_row_stride, a_k_stride, rows_per_line, a_line_stride, b_offset, b_k_stride, depth, b_mask,
        scale, scale_offset, scale_k_stride, accumulator, products, in_order, prefetch_b_bytes, prefetch_from, accumulators_in,
        accumulators_out);
  }
  void one(const TileInstr& in) {
    const auto& [op, result, type, args, expr_op, combine, number, integer, index, buffer, stride, broadcast, words, offsets, mask, fill,
                 streaming, induction, carried_in, carried, yields, otherwise_yields, results, body, otherwise, unroll, contract] = in;
    put(op, result, type, args, expr_op, combine, number, integer, index, buffer, stride, broadcast, words, offsets, mask, fill, streaming,
        induction, carried_in, carried, yields, otherwise_yields, results, body, otherwise, unroll);
    if (op == TileOp::contract) put(contract);
  }

 public:
  void kernel(const TileKernel& k) {
    const auto& [name, buffers, registers, sizes, body] = k;
    put(name, buffers, registers, sizes, body);
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace

Hash128 fingerprint_of(const TileKernel& kernel) {
  Words words;
  words.kernel(kernel);
  return hash128(words.bytes());
}

}  // namespace tenon::codegen
