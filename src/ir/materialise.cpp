// SPDX-License-Identifier: Apache-2.0
// The bytes of lazy constants.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/blocks/block_bits.h"
#include "base/blocks/panel_words.h"
#include "base/checked.h"
#include "ir/strided.h"

namespace tenon::ir {
namespace {

std::string place(const Constant& c) { return "constant " + type_text(c.dtype, c.shape); }

/// Before memory is requested.
Result<void> check_readable(const Constant& c) {
  const Constant::Reference* bytes = c.unread();
  if (!bytes) return {};
  return fail(Code::file_missing, "", "the bytes of this constant were not read: the model was imported with its weights by reference")
      .expected("a model with its weights")
      .found(type_text(c.dtype, c.shape) + " in file '" + bytes->location + "'")
      .advice("import it with the folder of its data, and not by reference");
}

// --- cast and scale ------------------------------------------------------------------------------------------

/// A float as an integer: truncated; out of range is the nearest that fits; NaN is 0 (as the scalar language's cast).
int64_t nearest_integer(double value, DType dtype) {
  if (std::isnan(value)) return 0;
  int bits = bits_of(dtype);
  if (!is_signed(dtype)) {
    if (value <= 0) return 0;
    if (value >= std::ldexp(1.0, bits)) return bits == 64 ? -1 : (int64_t{1} << bits) - 1;
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  double limit = std::ldexp(1.0, bits - 1);
  int64_t lowest = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  if (value >= limit) return -(lowest + 1);
  return value <= -limit ? lowest : static_cast<int64_t>(value);
}

void cast_element(const Tensor& from, Tensor& to, int64_t i) {
  DType target = to.dtype();
  bool exact_integer = !is_float(from.dtype()) && from.dtype() != DType::u64;
  if (target == DType::boolean) {
    to.set_integer(i, is_float(from.dtype()) ? from.number(i) != 0 : from.integer(i) != 0);
  } else if (is_float(target)) {
    if (exact_integer && target == DType::f32) {
      to.as_mutable<float>()[static_cast<size_t>(i)] = static_cast<float>(from.integer(i));
    } else {
      to.set_number(i, from.number(i));
    }
  } else {
    to.set_integer(i, is_float(from.dtype()) ? nearest_integer(from.number(i), target) : from.integer(i));
  }
}

uint16_t bf16_of(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// False where there is no quick way for the pair of dtypes.
bool cast_quickly(const Tensor& from, Tensor& to) {
  auto n = static_cast<size_t>(from.count());
  if (from.dtype() == DType::f32 && to.dtype() == DType::bf16) {
    std::transform(from.as<float>().begin(), from.as<float>().end(), to.as_mutable<uint16_t>().begin(), bf16_of);
  } else if (from.dtype() == DType::bf16 && to.dtype() == DType::f32) {
    for (size_t i = 0; i < n; ++i) to.as_mutable<uint32_t>()[i] = uint32_t{from.as<uint16_t>()[i]} << 16;
  } else if (from.dtype() == DType::f16 && to.dtype() == DType::f32) {
    for (size_t i = 0; i < n; ++i) to.as_mutable<float>()[i] = block_bits::f16_at(from.data() + 2 * i);
  } else if (from.dtype() == DType::f32 && to.dtype() == DType::f64) {
    std::ranges::copy(from.as<float>(), to.as_mutable<double>().begin());
  } else if (from.dtype() == DType::f64 && to.dtype() == DType::f32) {
    for (size_t i = 0; i < n; ++i) to.as_mutable<float>()[i] = static_cast<float>(from.as<double>()[i]);
  } else {
    return false;
  }
  return true;
}

Result<void> cast_into(const Constant& c, Tensor& to) {
  Tensor from = TRY(materialise(*std::get<Constant::Cast>(c.source).operand));
  if (from.dtype() == DType::string || to.dtype() == DType::string || is_complex(from.dtype()) || is_complex(to.dtype())) {
    return fail(Code::not_supported, place(c), "not supported yet: cast of a constant from or to text or complex numbers");
  }
  if (cast_quickly(from, to)) return {};
  for (int64_t i = 0; i < from.count(); ++i) cast_element(from, to, i);
  return {};
}

/// `count` elements from `first` on.
void scale_row(const Tensor& from, Tensor& to, int64_t first, int64_t count, double f, bool divide) {
  if (from.dtype() == DType::f32) {
    const float* x = from.as<float>().data() + first;
    float* y = to.as_mutable<float>().data() + first;
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(divide ? x[i] / f : x[i] * f);
    return;
  }
  for (int64_t i = first; i < first + count; ++i) to.set_number(i, divide ? from.number(i) / f : from.number(i) * f);
}

Result<void> scale_into(const Constant& c, Tensor& to) {
  auto& step = std::get<Constant::Scale>(c.source);
  if (!is_float(c.dtype)) return fail(Code::not_supported, place(c), "not supported yet: scale of a constant that is no float");
  Tensor from = TRY(materialise(*step.operand));
  std::vector<double> factors = numbers_of(TRY(materialise(*step.factors)));
  auto axis = static_cast<size_t>(step.axis);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < c.shape.size(); ++i) inner *= c.shape[i];
  int64_t rows = inner ? c.count() / inner : 0;
  for (int64_t row = 0; row < rows; ++row)
    scale_row(from, to, row * inner, inner, factors[static_cast<size_t>(row % c.shape[axis])], step.divide);
  return {};
}

// --- products ------------------------------------------------------------------------------------------------

/// Sums of all results of a row side by side: the inner loop runs over them.
void times_row(std::span<const double> row, std::span<const double> transposed, std::span<double> sums) {
  std::ranges::fill(sums, 0.0);
  for (size_t k = 0; k < row.size(); ++k)
    for (size_t r = 0; r < sums.size(); ++r) sums[r] += row[k] * transposed[k * sums.size() + r];
}

Result<void> product_into(const Constant& c, Tensor& to) {
  auto& step = std::get<Constant::Product>(c.source);
  const Tensor from = TRY(materialise(*step.operand));
  const Tensor all_factors = TRY(materialise(*step.factors));
  const std::span<const double> factors = all_factors.as<double>();
  const auto results = static_cast<size_t>(step.factors->shape[0]), terms = static_cast<size_t>(step.factors->shape[1]);
  std::vector<double> transposed(factors.size()), row(terms), sums(results);
  for (size_t r = 0; r < results; ++r)
    for (size_t k = 0; k < terms; ++k) transposed[k * results + r] = factors[r * terms + k];
  const auto quick = from.dtype() == DType::f32 ? from.as<float>() : std::span<const float>();
  const auto quick_out = from.dtype() == DType::f32 ? to.as_mutable<float>() : std::span<float>();
  const size_t rows = results ? static_cast<size_t>(c.count()) / results : 0;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < terms; ++k) row[k] = quick.empty() ? from.number(static_cast<int64_t>(i * terms + k)) : quick[i * terms + k];
    times_row(row, transposed, sums);
    for (size_t r = 0; r < results; ++r)
      if (quick_out.empty()) to.set_number(static_cast<int64_t>(i * results + r), sums[r]);
      else quick_out[i * results + r] = static_cast<float>(sums[r]);
  }
  return {};
}

/// The addend is the only second buffer.
Result<void> sum_into(const Constant& c, Tensor& to) {
  auto& step = std::get<Constant::Sum>(c.source);
  TRY(materialise_into(*step.operand, {to.mutable_data(), static_cast<size_t>(c.byte_size())}));
  const Tensor addend = TRY(materialise(*step.addend));
  const std::span<float> sums = to.as_mutable<float>();
  const std::span<const float> more = addend.as<float>();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
  return {};
}

// --- concat --------------------------------------------------------------------------------------------------

Result<void> concat_into(const Constant& c, std::byte* out) {
  auto& step = std::get<Constant::Concat>(c.source);
  auto axis = static_cast<size_t>(step.axis);
  int64_t outer = 1, width = bits_of(c.dtype) / 8;
  for (size_t i = 0; i < axis; ++i) outer *= c.shape[i];
  if (outer == 0 || c.count() == 0) return {};
  int64_t row = c.byte_size() / outer;
  for (const ConstantRef& part : step.operand) {
    int64_t bytes = part->count() * width / outer;
    if (bytes == 0) continue;
    if (outer == 1) {
      TRY(materialise_into(*part, {out, static_cast<size_t>(bytes)}));
    } else {
      Tensor tensor = TRY(materialise(*part));
      for (int64_t i = 0; i < outer; ++i) std::memcpy(out + i * row, tensor.data() + i * bytes, static_cast<size_t>(bytes));
    }
    out += bytes;
  }
  return {};
}

// --- elements that are no whole bytes, and text --------------------------------------------------------------

/// Where element `i` of a constant made by slice, permute or reshape is found in what it is made of.
int64_t source_index(const Constant& c, const Constant& operand, int64_t i) {
  if (std::holds_alternative<Constant::Reshape>(c.source)) return i;
  std::vector<int64_t> at(c.shape.size());
  for (size_t k = c.shape.size(); k-- > 0; i /= c.shape[k]) at[k] = i % c.shape[k];
  std::vector<int64_t> source = at;
  if (auto* slice = std::get_if<Constant::Slice>(&c.source)) {
    auto axis = static_cast<size_t>(slice->axis);
    source[axis] = slice->begin + at[axis] * slice->step;
  } else {
    auto& order = std::get<Constant::Permute>(c.source).order;
    for (size_t k = 0; k < order.size(); ++k) source[static_cast<size_t>(order[k])] = at[k];
  }
  int64_t index = 0;
  for (size_t k = 0; k < source.size(); ++k) index = index * operand.shape[k] + source[k];
  return index;
}

void copy_element(const Tensor& from, int64_t i, Tensor& to, int64_t k) {
  if (from.dtype() == DType::string) {
    to.mutable_strings()[static_cast<size_t>(k)] = from.strings()[static_cast<size_t>(i)];
  } else if (is_float(from.dtype())) {
    to.set_number(k, from.number(i));
  } else {
    to.set_integer(k, from.integer(i));
  }
}

Result<void> concat_elements(const Constant& c, Tensor& to) {
  auto& step = std::get<Constant::Concat>(c.source);
  auto axis = static_cast<size_t>(step.axis);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < c.shape.size(); ++i) (i < axis ? outer : inner) *= c.shape[i];
  int64_t done = 0;
  for (const ConstantRef& part : step.operand) {
    Tensor from = TRY(materialise(*part));
    int64_t row = outer ? from.count() / outer : 0;
    for (int64_t i = 0; i < from.count(); ++i) copy_element(from, i, to, i / row * inner + done + i % row);
    done += row;
  }
  return {};
}

Result<void> elements_into(const Constant& c, Tensor& to) {
  if (std::holds_alternative<Constant::Concat>(c.source)) return concat_elements(c, to);
  const Constant* operand = nullptr;
  if (auto* x = std::get_if<Constant::Slice>(&c.source)) operand = x->operand.get();
  if (auto* x = std::get_if<Constant::Permute>(&c.source)) operand = x->operand.get();
  if (auto* x = std::get_if<Constant::Reshape>(&c.source)) operand = x->operand.get();
  if (!operand) return fail(Code::not_supported, place(c), "not supported yet: pack of this dtype");
  Tensor from = TRY(materialise(*operand));
  for (int64_t i = 0; i < c.count(); ++i) copy_element(from, source_index(c, *operand, i), to, i);
  return {};
}

// --- blocks --------------------------------------------------------------------------------------------------

/// Adds a block's bits in that field to the words of each unit, a set of four codes at once.
void put_field(const int8_t* codes, const BlockFormat& format, const CodeField& field, uint32_t* words) {
  const uint32_t mask = ((1U << field.bits) - 1) * 0x01010101U;
  for (int unit = 0; unit < format.elements / kCodesOfUnit; ++unit, codes += kCodesOfUnit, words += format.linear->code_bits) {
    for (int k = 0; k < kCodesOfUnit; k += kCodesOfSet) {
      uint32_t set;
      std::memcpy(&set, codes + k, sizeof set);
      const int inside = k % field.codes_of_word();
      words[field.first_word + k / field.codes_of_word()] |= (set >> field.position & mask) << field.bit_of(inside);
    }
  }
}

/// The words of one lane, `step` bytes apart.
void put_words(const std::byte* block, const BlockFormat& format, int64_t step, std::byte* to) {
  int8_t codes[LinearBlocks::kMostElements];
  uint32_t words[LinearBlocks::kMostWords] = {};
  format.linear->codes(block, codes);
  put_field(codes, format, low_field(format.linear->code_bits), words);
  if (const CodeField high = high_field(format.linear->code_bits); high.bits > 0) put_field(codes, format, high, words);
  if (format.linear->sub_blocks) format.linear->sub_blocks->integers(block, &words[code_words(format)]);
  for (int k = 0; k < panel_words(format); ++k) std::memcpy(to + k * step, &words[k], sizeof words[k]);
}

void put_bytes(const std::byte* block, const BlockFormat& format, int64_t step, std::byte* to) {
  int8_t codes[LinearBlocks::kMostElements];
  format.linear->codes(block, codes);
  for (int64_t i = 0; i < format.elements; ++i) to[i * step] = static_cast<std::byte>(codes[i]);
}

void put_scales(const std::byte* block, const BlockFormat& format, int64_t step, std::byte* to) {
  const auto size = static_cast<size_t>(bytes_of(format.linear->scale_type, 1));
  std::byte scales[LinearBlocks::kMostScales * sizeof(float)];
  format.linear->scales(block, scales);
  const int count = format.elements / scale_elements(format) * scale_parts(format);
  for (int k = 0; k < count; ++k) std::memcpy(to + k * step, &scales[static_cast<size_t>(k) * size], size);
}

/// Panel by panel: what is written lies side by side.
void copy_packed_blocks(const Strided& from, const Constant& c, std::byte* to) {
  const auto& step = std::get<Constant::PackBlocks>(c.source);
  const BlockFormat& format = *step.format;
  const int64_t blocks = from.shape[0], lanes = from.shape[1], panel = step.panel;
  const int64_t size = c.byte_size() / (ceil_div(lanes, panel) * blocks), lane_size = bytes_of(c.dtype, 1);
  const auto put = step.scales ? put_scales : is_in_words(*format.linear) ? put_words : put_bytes;
  std::memset(to, 0, static_cast<size_t>(c.byte_size()));
  for (int64_t first = 0; first < lanes; first += panel)
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t lane = first; lane < std::min(lanes, first + panel); ++lane)
        put(from.data + b * from.strides[0] + lane * from.strides[1], format, panel * lane_size,
            to + (first / panel * blocks + b) * size + (lane - first) * lane_size);
}

/// Every step into a tensor of the constant's dtype and shape.
Result<void> compute(const Constant& c, Tensor& to) {
  if (std::holds_alternative<Constant::Cast>(c.source)) return cast_into(c, to);
  if (std::holds_alternative<Constant::Scale>(c.source)) return scale_into(c, to);
  if (std::holds_alternative<Constant::Product>(c.source)) return product_into(c, to);
  if (std::holds_alternative<Constant::Sum>(c.source)) return sum_into(c, to);
  if (auto* step = std::get_if<Constant::Blocks>(&c.source)) {
    dequantize(*step->format, std::span(step->codes.data(), static_cast<size_t>(step->codes.byte_size())), to.as_mutable<float>());
    return {};
  }
  if (auto* step = std::get_if<Constant::PackBlocks>(&c.source)) {
    copy_packed_blocks(TRY(strided_view(*step->operand)), c, to.mutable_data());
    return {};
  }
  if (bits_of(c.dtype) < 8) return elements_into(c, to);
  if (std::holds_alternative<Constant::Concat>(c.source)) return concat_into(c, to.mutable_data());
  if (auto* step = std::get_if<Constant::Reshape>(&c.source)) {
    return materialise_into(*step->operand, {to.mutable_data(), static_cast<size_t>(c.byte_size())});
  }
  if (auto* step = std::get_if<Constant::Pack>(&c.source)) {
    copy_packed(TRY(strided_view(*step->operand)), step->panel, step->group, to.mutable_data());
    return {};
  }
  copy_dense(TRY(strided_view(c)), to.mutable_data());
  return {};
}

}  // namespace

Result<Tensor> materialise(const Constant& constant) {
  if (auto* tensor = std::get_if<Tensor>(&constant.source)) return *tensor;
  TRY(check_readable(constant));
  Tensor out = TRY(Tensor::make(constant.dtype, constant.shape));
  TRY(compute(constant, out));
  return out;
}

Result<void> materialise_into(const Constant& constant, std::span<std::byte> out) {
  if (constant.dtype == DType::string) return fail(Code::not_supported, place(constant), "text has no bytes to write");
  TENON_ASSERT(static_cast<int64_t>(out.size()) >= constant.byte_size());
  if (auto* tensor = std::get_if<Tensor>(&constant.source)) {
    if (!out.empty() && tensor->byte_size() > 0) std::memcpy(out.data(), tensor->data(), static_cast<size_t>(tensor->byte_size()));
    return {};
  }
  TRY(check_readable(constant));
  if (bits_of(constant.dtype) < 8) std::ranges::fill(out, std::byte{0});  // elements share bytes
  Tensor target = Tensor::view(constant.dtype, constant.shape, out.data(), nullptr);
  return compute(constant, target);
}

}  // namespace tenon::ir
