// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/checked.h"
#include "files/mapped_file.h"

namespace tenon::files {
namespace {

constexpr std::string_view kGgufMagic = "GGUF";
constexpr uint64_t kMostName = 65535;
constexpr uint32_t kMostAxes = 4;
constexpr uint64_t kLeastPairBytes = 13, kLeastTensorBytes = 24;  ///< of a key and its value, of a tensor's record

enum class Kind : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
constexpr uint32_t kKinds = 13;

size_t size_of(Kind kind) {
  constexpr uint8_t kSizes[kKinds] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[static_cast<uint32_t>(kind)];
}

bool is_integer(Kind kind) { return kind <= Kind::i32 || kind == Kind::u64 || kind == Kind::i64; }

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, const std::string& place) : bytes_(bytes), place_(place) {}

  Result<Gguf> read() {
    Gguf out;
    if (bytes_.size() < 4 || std::memcmp(bytes_.data(), kGgufMagic.data(), 4) != 0) return bad("the first bytes", "GGUF", "others");
    at_ = 4;
    out.version = TRY(number<uint32_t>("the version"));
    TRY(check_version(out.version));
    const uint64_t tensors = TRY(count("tensors", kLeastTensorBytes)), pairs = TRY(count("metadata", kLeastPairBytes));
    for (uint64_t k = 0; k < pairs; ++k) TRY(pair(out));
    for (uint64_t k = 0; k < tensors; ++k) out.tensors.push_back(TRY(tensor()));
    TRY(place_tensors(out));
    return out;
  }

 private:
  Error bad(std::string what, std::string expected, std::string found) const {
    return fail(Code::bad_file, fmt::format("{}, byte {}", place_, at_), "not a sound GGUF file: " + std::move(what))
        .expected(std::move(expected))
        .found(std::move(found));
  }

  Result<void> check_version(uint32_t version) const {
    if (version == 2 || version == 3) return {};
    const bool swapped = version == 2U << 24 || version == 3U << 24;
    return fail(Code::not_supported, place_,
                swapped ? "not supported yet: big-endian GGUF files" : "not supported yet: this version of GGUF")
        .expected("version 2 or 3, little-endian")
        .found(swapped ? "big-endian" : std::to_string(version));
  }

  /// The bytes from here on, as many; they are passed.
  Result<const std::byte*> take(uint64_t size, std::string_view what) {
    if (size > bytes_.size() - at_)
      return bad(fmt::format("{} runs out of the file", what), fmt::format("{} bytes", size), fmt::format("{}", bytes_.size() - at_));
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  template <class T>
  Result<T> number(std::string_view what) {
    T out;
    std::memcpy(&out, TRY(take(sizeof out, what)), sizeof out);
    return out;
  }

  /// How many there are of what takes at least `least` bytes each.
  Result<uint64_t> count(std::string_view what, uint64_t least) {
    const auto out = TRY(number<uint64_t>(what));
    if (out > (bytes_.size() - at_) / least)
      return bad(fmt::format("more {} than the file has room for", what), fmt::format("at most {}", (bytes_.size() - at_) / least),
                 std::to_string(out));
    return out;
  }

  Result<std::string> text(std::string_view what, uint64_t most) {
    const auto size = TRY(number<uint64_t>(what));
    if (size > most) return bad(fmt::format("{} is too long", what), fmt::format("at most {} bytes", most), std::to_string(size));
    const auto* const data = reinterpret_cast<const char*>(TRY(take(size, what)));
    return std::string(data, size);
  }

  Result<Kind> kind() {
    const auto number_of = TRY(number<uint32_t>("the type of a value"));
    if (number_of >= kKinds) return bad("a value of an unknown type", fmt::format("a number below {}", kKinds), std::to_string(number_of));
    return static_cast<Kind>(number_of);
  }

  Result<void> pair(Gguf& to) {
    const std::string key = TRY(text("a key", kMostName));
    if (to.metadata.contains(key)) return bad("a key stands twice", "keys that differ", key);
    const Kind of = TRY(kind());
    to.metadata.emplace(key, of == Kind::array ? TRY(array(key)) : TRY(scalar(of)));
    return {};
  }

  static int64_t integer_at(Kind kind, const std::byte* at) {
    const auto as = [&]<class T>(T value) { return std::memcpy(&value, at, sizeof value), static_cast<int64_t>(value); };
    switch (kind) {
      case Kind::u8: return as(uint8_t{});
      case Kind::i8: return as(int8_t{});
      case Kind::u16: return as(uint16_t{});
      case Kind::i16: return as(int16_t{});
      case Kind::u32: return as(uint32_t{});
      case Kind::i32: return as(int32_t{});
      default: return as(int64_t{});
    }
  }

  static double float_at(Kind kind, const std::byte* at) {
    const auto as = [&]<class T>(T value) { return std::memcpy(&value, at, sizeof value), static_cast<double>(value); };
    return kind == Kind::f32 ? as(float{}) : as(double{});
  }

  Result<bool> flag_at(const std::byte* at) const {
    if (std::to_integer<int>(*at) > 1) return bad("a bool that is neither", "0 or 1", std::to_string(std::to_integer<int>(*at)));
    return *at != std::byte{0};
  }

  Result<GgufValue> scalar(Kind of) {
    if (of == Kind::string) return GgufValue(TRY(text("a string", bytes_.size())));
    const std::byte* const at = TRY(take(size_of(of), "a value"));
    if (of == Kind::boolean) return GgufValue(TRY(flag_at(at)));
    if (!is_integer(of)) return GgufValue(float_at(of, at));
    const int64_t value = integer_at(of, at);
    return of == Kind::u64 && value < 0 ? GgufValue(static_cast<uint64_t>(value)) : GgufValue(value);
  }

  Result<GgufValue> array(const std::string& key) {
    const Kind of = TRY(kind());
    if (of == Kind::array)
      return fail(Code::not_supported, fmt::format("{}, key '{}'", place_, key), "not supported yet: arrays of arrays")
          .expected("an array of values");
    const uint64_t size = TRY(count("elements", of == Kind::string ? 8 : size_of(of)));
    if (of == Kind::string) {
      std::vector<std::string> out;
      for (uint64_t k = 0; k < size; ++k) out.push_back(TRY(text("a string", bytes_.size())));
      return GgufValue(std::move(out));
    }
    const std::byte* const at = TRY(take(size * size_of(of), "an array"));
    if (of == Kind::f32 || of == Kind::f64) {
      std::vector<double> out(size);
      for (uint64_t k = 0; k < size; ++k) out[k] = float_at(of, at + k * size_of(of));
      return GgufValue(std::move(out));
    }
    std::vector<int64_t> out(size);
    for (uint64_t k = 0; k < size; ++k) out[k] = of == Kind::boolean ? TRY(flag_at(at + k)) : integer_at(of, at + k * size_of(of));
    return GgufValue(std::move(out));
  }

  /// Its bytes are placed when the header has ended.
  Result<GgufTensor> tensor() {
    GgufTensor out;
    out.name = TRY(text("the name of a tensor", kMostName));
    if (!names_.insert(out.name).second) return bad("a tensor stands twice", "names that differ", out.name);
    const auto axes = TRY(number<uint32_t>("the rank of a tensor"));
    if (axes > kMostAxes)
      return bad(fmt::format("the rank of tensor '{}'", out.name), fmt::format("at most {}", kMostAxes), std::to_string(axes));
    for (uint32_t k = 0; k < axes; ++k) {
      const auto size = TRY(number<uint64_t>("a size"));
      if (size >> 62 != 0) return bad(fmt::format("a size of tensor '{}'", out.name), "a number below 2^62", std::to_string(size));
      out.shape.insert(out.shape.begin(), static_cast<int64_t>(size));
    }
    const auto format = TRY(number<uint32_t>("the format of a tensor"));
    out.format = block_format(format);
    if (!out.format)
      return fail(Code::not_supported, fmt::format("{}, tensor '{}'", place_, out.name), "not supported yet: this block format")
          .expected("a format of ggml")
          .found("number " + std::to_string(format));
    offsets_.push_back(TRY(number<uint64_t>("the offset of a tensor")));
    return out;
  }

  Result<uint64_t> alignment(const Gguf& file) const {
    const GgufValue* const value = file.find("general.alignment");
    if (!value) return 32;
    const auto* const number_of = std::get_if<int64_t>(value);
    if (!number_of || *number_of < 1 || *number_of > 1 << 20 || (*number_of & (*number_of - 1)) != 0)
      return bad("general.alignment", "a power of two of at most 1048576", number_of ? std::to_string(*number_of) : "another value");
    return static_cast<uint64_t>(*number_of);
  }

  Result<uint64_t> byte_size(const GgufTensor& t) const {
    const auto elements = checked_count(t.shape);
    const int64_t row = t.shape.empty() ? 1 : t.shape.back();
    if (!elements || row % t.format->elements != 0)
      return bad(fmt::format("the shape of tensor '{}'", t.name),
                 fmt::format("rows of whole blocks of {}, of {} elements", t.format->name, t.format->elements),
                 fmt::format("[{}]", fmt::join(t.shape, ", ")));
    const auto bytes = checked_mul(*elements / t.format->elements, t.format->bytes);
    if (!bytes) return bad(fmt::format("tensor '{}' is too large", t.name), "at most 2^63 bytes", "more");
    return static_cast<uint64_t>(*bytes);
  }

  Result<void> place_tensors(Gguf& file) {
    const uint64_t unit = TRY(alignment(file));
    const uint64_t data = std::min<uint64_t>(bytes_.size(), (at_ + unit - 1) / unit * unit), room = bytes_.size() - data;
    std::vector<std::pair<uint64_t, size_t>> order;
    for (size_t k = 0; k < file.tensors.size(); ++k) {
      GgufTensor& t = file.tensors[k];
      const uint64_t size = TRY(byte_size(t)), offset = offsets_[k];
      if (offset % unit != 0 || offset > room || size > room - offset)
        return bad(fmt::format("the place of tensor '{}'", t.name),
                   fmt::format("{} bytes at a multiple of {}, within {}", size, unit, room), std::to_string(offset));
      t.bytes = bytes_.subspan(data + offset, size);
      order.emplace_back(offset, k);
    }
    std::ranges::sort(order);
    for (size_t k = 1; k < order.size(); ++k) {
      const GgufTensor &a = file.tensors[order[k - 1].second], &b = file.tensors[order[k].second];
      if (!a.bytes.empty() && !b.bytes.empty() && a.bytes.data() + a.bytes.size() > b.bytes.data())
        return bad("tensors overlap", "places that differ", fmt::format("'{}' and '{}'", a.name, b.name));
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  const std::string& place_;
  uint64_t at_ = 0;
  std::set<std::string> names_;
  std::vector<uint64_t> offsets_;
};

}  // namespace

const GgufValue* Gguf::find(std::string_view key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

Result<Gguf> read_gguf(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, const std::string& place) {
  Gguf out = TRY(GgufReader(bytes, place).read());
  out.keeper = std::move(keeper);
  return out;
}

Result<Gguf> read_gguf(const std::filesystem::path& path) {
  const auto file = TRY(MappedFile::open(path));
  return read_gguf(file->bytes(), file, path.string());
}

bool is_gguf(const std::filesystem::path& path) {
  char magic[4] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(magic, 4) && std::string_view(magic, 4) == kGgufMagic;
}

}  // namespace tenon::files
