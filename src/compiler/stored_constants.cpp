// SPDX-License-Identifier: Apache-2.0
#include "compiler/stored_constants.h"

#include <algorithm>
#include <utility>

#include "base/blocks/grouped_codes.h"
#include "base/checked.h"
#include "compiler/constant_stream.h"

namespace tenon::compiler {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kAlignment = 64;
/// Steps inside each other. Expressions of the compiler have three or four.
constexpr int kMostSteps = 16;

/// Of a GGUF file, or of codes in groups; null where none has the name.
const BlockFormat* format_named(std::string_view name) {
  if (const BlockFormat* of_file = block_format_named(name)) return of_file;
  for (const int bits : {4, 8})
    for (const int elements : {32, 64, 128, 256})
      for (const bool has_minimum : {false, true})
        if (const BlockFormat* groups = grouped_codes(bits, elements, has_minimum); groups && groups->name == name) return groups;
  return nullptr;
}

bool is_equal(const ir::Constant& a, const ir::Constant& b) { return a.dtype == b.dtype && a.shape == b.shape && ir::same(a, b); }

/// Bytes of the tensors of an expression that has an entry of steps; nullopt: it has none.
class StepBytes {
 public:
  explicit StepBytes(int depth) : depth_(depth) {}

  std::optional<int64_t> operator()(const Tensor& t) const { return bytes_of(t.dtype(), t.count()); }
  std::optional<int64_t> operator()(const ir::Constant::Blocks& b) const {
    return format_named(b.format->name) == b.format ? std::optional(b.codes.count()) : std::nullopt;
  }
  std::optional<int64_t> operator()(const ir::Constant::Concat& c) const {
    int64_t all = 0;
    for (const ir::ConstantRef& part : c.operand) {
      const auto bytes = of(*part);
      if (!bytes) return std::nullopt;
      all += *bytes;
    }
    return all;
  }
  template <class Step>
  std::optional<int64_t> operator()(const Step& step) const {
    using std::is_same_v;
    if constexpr (is_same_v<Step, ir::Constant::Slice> || is_same_v<Step, ir::Constant::Permute> ||
                  is_same_v<Step, ir::Constant::Reshape> || is_same_v<Step, ir::Constant::Cast>)
      return of(*step.operand);
    else return std::nullopt;
  }

 private:
  std::optional<int64_t> of(const ir::Constant& c) const {
    return depth_ == 0 ? std::nullopt : std::visit(StepBytes(depth_ - 1), c.source);
  }

  int depth_;
};

bool is_stored_in_steps(const ir::Constant& c) {
  const auto bytes = c.is_plain() ? std::nullopt : std::visit(StepBytes(kMostSteps), c.source);
  return bytes && *bytes < c.byte_size();
}

}  // namespace

int64_t StoredConstants::place(const ir::ConstantRef& bytes, bool compares) {
  const Tensor* const plain = std::get_if<Tensor>(&bytes->source);
  if (plain)
    if (const auto known = first_bytes_.find(plain->data()); known != first_bytes_.end() && plain->count() > 0)
      if (written_[known->second]->byte_size() == bytes->byte_size()) return offsets_[known->second];
  if (compares)
    for (size_t k = 0; k < written_.size(); ++k)
      if (is_equal(*bytes, *written_[k])) return offsets_[k];
  if (plain) first_bytes_.emplace(plain->data(), written_.size());
  written_.push_back(bytes);
  offsets_.push_back(end_);
  end_ += round_up(bytes->byte_size(), kAlignment);
  return offsets_.back();
}

Json StoredConstants::entry_of(const ir::ConstantRef& c) {
  Json out{{"dtype", name_of(c->dtype)}, {"shape", c->shape}};
  const auto step = [&](const char* name, Json of) { out["step"] = name, out["of"] = std::move(of); };
  if (const auto* blocks = std::get_if<ir::Constant::Blocks>(&c->source)) {
    out["blocks"] = blocks->format->name;
    out["at"] = place(ir::constant_of(blocks->codes), false);
  } else if (const auto* slice = std::get_if<ir::Constant::Slice>(&c->source)) {
    out["axis"] = slice->axis, out["begin"] = slice->begin, out["end"] = slice->end, out["by"] = slice->step;
    step("slice", entry_of(slice->operand));
  } else if (const auto* permute = std::get_if<ir::Constant::Permute>(&c->source)) {
    out["order"] = permute->order;
    step("permute", entry_of(permute->operand));
  } else if (const auto* reshape = std::get_if<ir::Constant::Reshape>(&c->source)) {
    step("reshape", entry_of(reshape->operand));
  } else if (const auto* cast = std::get_if<ir::Constant::Cast>(&c->source)) {
    step("cast", entry_of(cast->operand));
  } else if (const auto* concat = std::get_if<ir::Constant::Concat>(&c->source)) {
    Json parts = Json::array();
    for (const ir::ConstantRef& part : concat->operand) parts.push_back(entry_of(part));
    out["axis"] = concat->axis;
    step("concat", std::move(parts));
  } else {
    out["offset"] = place(c, false);
  }
  return out;
}

Json StoredConstants::add(const ir::ConstantRef& constant, bool compares) {
  if (is_stored_in_steps(*constant)) return entry_of(constant);
  return {{"dtype", name_of(constant->dtype)}, {"shape", constant->shape}, {"offset", place(constant, compares)}};
}

Result<void> StoredConstants::write(engine::Append append) const {
  static constexpr std::byte kZeros[kAlignment] = {};
  ConstantStream all(written_);
  for (const ir::ConstantRef& c : written_) {
    TRY(append(TRY(all.next())));
    TRY(append({kZeros, static_cast<size_t>(round_up(c->byte_size(), kAlignment) - c->byte_size())}));
  }
  return {};
}

namespace {

/// Reads one entry of the index, with the entries inside it.
class EntryReader {
 public:
  EntryReader(size_t number, std::span<const std::byte> weights, const std::shared_ptr<const void>& keeper, std::string_view place)
      : number_(number), weights_(weights), keeper_(keeper), place_(place) {}

  Result<ir::ConstantRef> read(const Json& entry, int depth) const {
    if (!entry.is_object() || depth > kMostSteps) return bad("it is no object, or has too many steps inside each other");
    const auto dtype = dtype_named(text(entry, "dtype"));
    if (!dtype || *dtype == DType::string || *dtype == DType::none) return bad("no such dtype").found(text(entry, "dtype"));
    const Sizes shape = TRY(shape_of(entry));
    ir::ConstantRef out = entry.contains("step") ? TRY(step(entry, *dtype, shape, depth)) : TRY(stored(entry, *dtype, shape));
    if (out->dtype != *dtype || out->shape != shape)
      return bad("its step gives another type").found(out->shape == shape ? "its dtype" : "its shape");
    return out;
  }

 private:
  Error bad(std::string what) const {
    return fail(Code::bad_file, std::string(place_),
                "constant @" + std::to_string(number_) + " of the constants index: " + std::move(what));
  }
  static std::string text(const Json& entry, const char* key) {
    return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
  }
  Result<int64_t> integer(const Json& entry, const char* key) const {
    if (entry.contains(key) && entry[key].is_number_integer()) {
      const auto value = entry[key].get<int64_t>();
      if (value > -(int64_t{1} << 56) && value < int64_t{1} << 56) return value;
    }
    return bad(std::string(key) + " is missing, no number, or too large");
  }

  Result<Sizes> shape_of(const Json& entry) const {
    if (!entry.contains("shape") || !entry["shape"].is_array()) return bad("its shape is missing");
    Sizes shape;
    for (const Json& size : entry["shape"]) {
      if (!size.is_number_unsigned() || size.get<uint64_t>() > uint64_t{1} << 56) return bad("a size is no number, or too large");
      shape.push_back(size.get<int64_t>());
    }
    const auto count = checked_count(shape);
    if (!count || *count >= int64_t{1} << 56) return bad("it has too many elements");
    return shape;
  }

  /// So many bytes of the weights. Errors: bad_file where they lie outside.
  Result<const std::byte*> bytes_at(const Json& entry, const char* key, uint64_t count) const {
    const auto offset = static_cast<uint64_t>(TRY(integer(entry, key)));
    if (offset % kAlignment == 0 && offset <= weights_.size() && count <= weights_.size() - offset) return weights_.data() + offset;
    return bad("it lies outside the weights")
        .expected("an aligned range below " + std::to_string(weights_.size()))
        .found(entry[key].dump());
  }

  Result<ir::ConstantRef> stored(const Json& entry, DType dtype, const Sizes& shape) const {
    const int64_t count = *checked_count(shape);
    if (!entry.contains("blocks")) {
      const std::byte* const data = TRY(bytes_at(entry, "offset", static_cast<uint64_t>(bytes_of(dtype, count))));
      return ir::constant_of(Tensor::view(dtype, shape, data, keeper_));
    }
    const BlockFormat* const format = format_named(text(entry, "blocks"));
    if (!format || !format->decode) return bad("no such format of blocks").found(text(entry, "blocks"));
    const auto bytes = block_bytes(*format, static_cast<uint64_t>(count));
    if (!bytes || dtype != DType::f32 || shape.empty() || shape.back() % format->elements != 0) return bad("its rows are no whole blocks");
    const std::byte* const data = TRY(bytes_at(entry, "at", *bytes));
    return ir::decode_blocks(Tensor::view(DType::u8, {static_cast<int64_t>(*bytes)}, data, keeper_), *format, shape);
  }

  Result<ir::ConstantRef> step(const Json& entry, DType dtype, const Sizes& shape, int depth) const {
    const std::string name = text(entry, "step");
    if (!entry.contains("of")) return bad("its step has no operand");
    if (name == "concat") return concat(entry, depth);
    ir::ConstantRef of = TRY(read(entry["of"], depth + 1));
    if (name == "slice") return slice(entry, std::move(of));
    if (name == "permute") return permute(entry, std::move(of));
    if (name == "reshape")
      return of->count() == *checked_count(shape) ? Result<ir::ConstantRef>(ir::reshape(std::move(of), shape))
                                                  : bad("its step gives another type");
    if (name == "cast") {
      if (!is_arithmetic_float(of->dtype) || !is_arithmetic_float(dtype)) return bad("its step casts no floats");
      return ir::cast(std::move(of), dtype);
    }
    return bad("no such step").found(name);
  }

  Result<size_t> axis(const Json& entry, const ir::Constant& of) const {
    const int64_t number = TRY(integer(entry, "axis"));
    if (number < 0 || number >= static_cast<int64_t>(of.shape.size())) return bad("its step has no such axis");
    return static_cast<size_t>(number);
  }

  Result<ir::ConstantRef> concat(const Json& entry, int depth) const {
    if (!entry["of"].is_array() || entry["of"].empty()) return bad("its step joins no constants");
    std::vector<ir::ConstantRef> parts;
    for (const Json& part : entry["of"]) parts.push_back(TRY(read(part, depth + 1)));
    const size_t along = TRY(axis(entry, *parts[0]));
    int64_t size = 0;
    for (const ir::ConstantRef& p : parts) {
      Sizes others = p->shape;
      const bool fits = p->dtype == parts[0]->dtype && others.size() == parts[0]->shape.size();
      if (fits) others[along] = parts[0]->shape[along];
      if (!fits || others != parts[0]->shape || p->shape[along] > (int64_t{1} << 56) - size) return bad("its step joins other shapes");
      size += p->shape[along];
    }
    return ir::concat(std::move(parts), static_cast<int>(along));
  }

  Result<ir::ConstantRef> slice(const Json& entry, ir::ConstantRef of) const {
    const size_t along = TRY(axis(entry, *of));
    const int64_t begin = TRY(integer(entry, "begin")), end = TRY(integer(entry, "end")), by = TRY(integer(entry, "by")),
                  size = of->shape[along];
    const bool up = by > 0 && begin >= 0 && begin < size && end > begin && end <= size;
    const bool down = by < 0 && begin >= 0 && begin < size && end < begin && end >= -1;
    if (!up && !down) return bad("its step takes elements that are not there");
    return ir::slice(std::move(of), static_cast<int>(along), begin, end, by);
  }

  Result<ir::ConstantRef> permute(const Json& entry, ir::ConstantRef of) const {
    std::vector<int> order;
    if (entry.contains("order") && entry["order"].is_array())
      for (const Json& axis : entry["order"])
        order.push_back(axis.is_number_unsigned() && axis.get<uint64_t>() < 64 ? axis.get<int>() : -1);
    std::vector<int> sorted = order, all(of->shape.size());
    std::ranges::sort(sorted);
    for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    if (sorted != all) return bad("its order is no permutation of the axes");
    return ir::permute(std::move(of), std::move(order));
  }

  size_t number_;
  std::span<const std::byte> weights_;
  const std::shared_ptr<const void>& keeper_;
  std::string_view place_;
};

}  // namespace

Result<ir::ConstantRef> read_constant(const Json& entry, size_t k, std::span<const std::byte> weights,
                                      const std::shared_ptr<const void>& keeper, std::string_view place) {
  return EntryReader(k, weights, keeper, place).read(entry, 0);
}

}  // namespace tenon::compiler
