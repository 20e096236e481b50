// SPDX-License-Identifier: Apache-2.0
#include "files/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "files/atomic_write.h"
#include "files/mapped_file.h"
#include "files/npy_header.h"
#include "files/utf.h"

namespace tenon::files {
namespace {

/// A dtype and its name in .npy headers.
struct Descr {
  DType dtype;
  std::string_view text;
};
/// The dtypes that both NumPy and Tenon have.
constexpr Descr kDescrs[] = {{DType::boolean, "|b1"}, {DType::u8, "|u1"},  {DType::i8, "|i1"},  {DType::u16, "<u2"},  {DType::i16, "<i2"},
                             {DType::u32, "<u4"},     {DType::i32, "<i4"}, {DType::u64, "<u8"}, {DType::i64, "<i8"},  {DType::f16, "<f2"},
                             {DType::f32, "<f4"},     {DType::f64, "<f8"}, {DType::c64, "<c8"}, {DType::c128, "<c16"}};

std::optional<DType> dtype_of(const NpyHeader& h) {
  for (const Descr& row : kDescrs) {
    if (row.text.substr(1) == fmt::format("{}{}", h.kind, h.item)) return row.dtype;
  }
  return std::nullopt;
}

/// Bytes of one element in the file.
std::optional<int64_t> item_bytes(const NpyHeader& h) { return h.kind == 'U' ? checked_mul(h.item, 4) : std::optional(h.item); }

/// Reverses each group of `width` bytes.
void swap_bytes(std::span<std::byte> bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes.size(); at += width) std::reverse(bytes.data() + at, bytes.data() + at + width);
}

/// Calls `move(to, from)` for each element of a Fortran-ordered array, `to` in row-major order.
template <class Move>
void each_transposed(const Sizes& shape, int64_t count, Move move) {
  Sizes position(shape.size(), 0);
  for (int64_t to = 0; to < count; ++to) {
    int64_t from = 0;
    for (size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + position[axis];
    move(static_cast<size_t>(to), static_cast<size_t>(from));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++position[axis] < shape[axis]) break;
      position[axis] = 0;
    }
  }
}

std::string string_at(const NpyHeader& h, std::span<const std::byte> item) {
  if (h.kind == 'U') return utf8_of_utf32(item, h.order == '>');
  std::string out(reinterpret_cast<const char*>(item.data()), item.size());
  out.resize(out.find_last_not_of('\0') + 1);
  return out;
}

Result<Tensor> read_strings(const NpyHeader& h, std::span<const std::byte> data, size_t item, int64_t count, const std::string& place,
                            const ArrayLimits& limits) {
  // Strings of no bytes cost the file nothing, so their number needs a limit of its own.
  const int64_t most = item == 0 ? int64_t{1} << 20 : limits.tensor_bytes / static_cast<int64_t>(sizeof(std::string) + item);
  if (count > most)
    return fail(Code::limit_exceeded, place, "too many strings").expected(fmt::format("at most {}", most)).found(std::to_string(count));
  std::vector<std::string> strings(static_cast<size_t>(count));
  const auto put = [&](size_t to, size_t from) { strings[to] = string_at(h, data.subspan(from * item, item)); };
  if (h.fortran) each_transposed(h.shape, count, put);
  else
    for (size_t i = 0; i < strings.size(); ++i) put(i, i);
  return Tensor::of_strings(h.shape, std::move(strings));
}

Result<Tensor> read_numbers(const NpyHeader& h, DType dtype, std::span<const std::byte> data, std::shared_ptr<const void> keeper,
                            const ArrayLimits& limits) {
  const auto item = static_cast<size_t>(h.item);
  const bool swapped = h.order == '>' && item > 1;
  const size_t align = is_complex(dtype) ? item / 2 : item;
  if (keeper && !swapped && !h.fortran && reinterpret_cast<uintptr_t>(data.data()) % align == 0)
    return Tensor::view(dtype, h.shape, data.data(), std::move(keeper));
  Tensor t = TRY(Tensor::make(dtype, h.shape, limits.tensor_bytes));
  if (data.empty()) return t;
  if (h.fortran)
    each_transposed(h.shape, t.count(),
                    [&](size_t to, size_t from) { std::memcpy(t.mutable_data() + to * item, data.data() + from * item, item); });
  else if (!data.empty()) std::memcpy(t.mutable_data(), data.data(), data.size());
  if (swapped) swap_bytes({t.mutable_data(), data.size()}, align);
  return t;
}

/// The dtype as which a tensor is written: its own, or a wider one where NumPy lacks it.
DType stored_dtype(DType dtype) {
  for (const Descr& row : kDescrs) {
    if (row.dtype == dtype) return dtype;
  }
  return is_float(dtype) ? DType::f32 : is_signed(dtype) ? DType::i8 : DType::u8;
}

Tensor converted(const Tensor& tensor, DType dtype) {
  auto out = Tensor::make(dtype, tensor.shape());
  TENON_ASSERT(out.has_value());
  for (int64_t i = 0; i < tensor.count(); ++i) out->set_number(i, tensor.number(i));
  return *std::move(out);
}

std::string string_npy(const Tensor& tensor) {
  std::vector<std::string> wide;
  size_t longest = 1;
  for (const std::string& s : tensor.strings()) {
    wide.push_back(utf32_of_utf8(s));
    longest = std::max(longest, wide.back().size() / 4);
  }
  std::string out = npy_header_text(fmt::format("<U{}", longest), tensor.shape());
  for (std::string& s : wide) {
    s.resize(longest * 4, '\0');
    out += s;
  }
  return out;
}

}  // namespace

Result<Tensor> read_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place,
                        const ArrayLimits& limits) {
  const NpyHeader h = TRY(parse_npy_header(bytes, place, limits));
  const auto count = checked_count(h.shape);
  const auto item = item_bytes(h);
  const auto need = count && item ? checked_mul(*count, *item) : std::nullopt;
  if (!need)
    return fail(Code::size_overflow, place, "the npy array's size does not fit")
        .expected("less than 2^63 bytes")
        .found(fmt::format("shape [{}]", fmt::join(h.shape, ",")));
  const uint64_t have = bytes.size() - h.data_offset;
  if (have < static_cast<uint64_t>(*need)) {
    return fail(Code::bad_file, place, "the npy file is cut off")
        .expected(fmt::format("{} bytes of data", *need))
        .found(fmt::format("{} bytes", have));
  }
  const auto data = bytes.subspan(h.data_offset, static_cast<size_t>(*need));
  if (h.kind == 'U' || h.kind == 'S') return read_strings(h, data, static_cast<size_t>(*item), *count, place, limits);
  const auto dtype = dtype_of(h);
  if (!dtype)
    return fail(Code::not_supported, place, fmt::format("not supported yet: npy arrays of dtype {}{}", h.kind, h.item))
        .expected("bool, integers, f16, f32, f64, complex or strings")
        .found(fmt::format("{}{}{}", h.order, h.kind, h.item))
        .advice("convert it with array.astype before saving");
  auto tensor = read_numbers(h, *dtype, data, std::move(keeper), limits);
  if (!tensor) return std::unexpected(std::move(tensor).error().at(place));
  return tensor;
}

Result<Tensor> read_npy(const std::filesystem::path& path, const ArrayLimits& limits) {
  const auto file = TRY(MappedFile::open(path));
  return read_npy(file->bytes(), file, path.string(), limits);
}

std::string npy_bytes(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) return string_npy(tensor);
  const DType dtype = stored_dtype(tensor.dtype());
  if (dtype != tensor.dtype()) return npy_bytes(converted(tensor, dtype));
  std::string_view descr;
  for (const Descr& row : kDescrs) {
    if (row.dtype == dtype) descr = row.text;
  }
  std::string out = npy_header_text(std::string(descr), tensor.shape());
  out.append(reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.byte_size()));
  return out;
}

Result<void> write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  TRY(check_on_host(tensor, path.string()));
  return write_file(path, npy_bytes(tensor));
}

}  // namespace tenon::files
