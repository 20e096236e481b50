// SPDX-License-Identifier: Apache-2.0
#include "files/gguf_cursor.h"

#include <fmt/format.h>

namespace tenon::files {
namespace {

/// The bytes of a value of a type of fixed size; of strings and arrays those of an empty one.
uint64_t min_bytes_of(GgufType type) {
  static constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};
  return kBytes[static_cast<uint32_t>(type)];
}

}  // namespace

std::string GgufCursor::place(uint64_t offset) const { return fmt::format("{}:byte {}", file_, offset); }

Result<std::span<const std::byte>> GgufCursor::take(uint64_t count, std::string_view what) {
  if (count > left())
    return fail(Code::bad_file, place(), fmt::format("not a sound GGUF file: it ends in {}", what))
        .expected(fmt::format("{} more bytes", count))
        .found(fmt::format("{} bytes", left()))
        .advice("copy or download the file again");
  const auto out = bytes_.subspan(static_cast<size_t>(at_), static_cast<size_t>(count));
  at_ += count;
  return out;
}

Result<uint64_t> GgufCursor::count(uint64_t min_bytes, std::string_view what) {
  const uint64_t begin = at_, count = TRY(number<uint64_t>(what));
  if (count > left() / min_bytes)
    return fail(Code::bad_file, place(begin), fmt::format("not a sound GGUF file: {} exceeds what the file can hold", what))
        .expected(fmt::format("at most {}, in the {} bytes that follow", left() / min_bytes, left()))
        .found(std::to_string(count))
        .advice("copy or download the file again");
  return count;
}

Result<std::string_view> GgufCursor::text(uint64_t max_bytes, std::string_view what) {
  const uint64_t begin = at_;
  uint64_t length = 0;
  if (left() >= sizeof length) std::memcpy(&length, &bytes_[static_cast<size_t>(at_)], sizeof length);
  // Names for errors are made where there is one: a vocabulary has 100,000 texts.
  if (left() < sizeof length || length > left() - sizeof length) TRY(count(1, fmt::format("the length of {}", what)));
  at_ += sizeof length;
  if (length > max_bytes)
    return fail(Code::limit_exceeded, place(begin), fmt::format("{} is too long", what))
        .expected(fmt::format("at most {} bytes", max_bytes))
        .found(fmt::format("{} bytes", length))
        .advice("shorten it where the file is written");
  const auto bytes = TRY(take(length, what));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<GgufType> GgufCursor::type(std::string_view what) {
  const uint64_t begin = at_;
  const auto number = TRY(this->number<uint32_t>(fmt::format("the type of {}", what)));
  if (number > static_cast<uint32_t>(GgufType::f64))
    return fail(Code::not_supported, place(begin), fmt::format("not supported yet: a GGUF metadata type, of {}", what))
        .expected("0 (u8) to 12 (f64)")
        .found(std::to_string(number))
        .advice("the file may be damaged: copy or download it again");
  return static_cast<GgufType>(number);
}

Result<GgufValue> GgufCursor::value(GgufType type, std::string_view what, int depth) {
  GgufValue out;
  out.type = type;
  if (type == GgufType::string) {
    const auto text = TRY(this->text(UINT64_MAX, what));
    out.bytes = std::as_bytes(std::span(text));
    return out;
  }
  if (type != GgufType::array) {
    out.bytes = TRY(take(min_bytes_of(type), what));
    return out;
  }
  if (depth >= kMaxNesting)
    return fail(Code::limit_exceeded, place(), fmt::format("arrays nested too deeply in {}", what))
        .expected(fmt::format("at most {} levels", kMaxNesting))
        .found("more")
        .advice("store the value flat");
  out.element = TRY(this->type(what));
  out.count = TRY(count(min_bytes_of(out.element), fmt::format("the number of elements of {}", what)));
  const uint64_t begin = at_;
  if (out.element == GgufType::string || out.element == GgufType::array) {
    for (uint64_t k = 0; k < out.count; ++k) TRY(value(out.element, what, depth + 1));
  } else {
    TRY(take(out.count * min_bytes_of(out.element), what));
  }
  out.bytes = bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(at_ - begin));
  return out;
}

}  // namespace tenon::files
