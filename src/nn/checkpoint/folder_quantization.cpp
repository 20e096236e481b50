// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint/folder_quantization.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "ir/quantized/grouped_constant.h"

namespace tenon::nn {
namespace {

using nlohmann::json;
using Method = FolderQuantization::Method;

constexpr int kWordBits = 32;
/// Which of 8 neighboring outputs the k-th 4 bits of a word of AWQ are of.
constexpr std::array<int, 8> kAwqOrder{0, 2, 4, 6, 1, 3, 5, 7};
constexpr std::array<int, 8> kPlainOrder{0, 1, 2, 3, 4, 5, 6, 7};

/// The first of the fields that the configuration has, as text without quotes; nullopt: it has none, or null.
std::optional<std::string> field(const json& config, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (config.contains(name) && !config[name].is_null()) {
      const json& value = config[name];
      return value.is_string() ? value.get<std::string>() : value.dump();
    }
  return std::nullopt;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

Error unsupported(const std::string& place, const std::string& what, const std::string& expected, const std::string& found) {
  return fail(Code::not_supported, place + ", quantization_config", "not supported yet: " + what).expected(expected).found(found);
}

/// A field whose value, or default, must be one of some.
Result<std::string> one_of(const json& config, const std::string& place, std::initializer_list<const char*> names, const char* otherwise,
                           std::initializer_list<std::string_view> values) {
  const std::string value = in_lower_case(field(config, names).value_or(otherwise));
  if (std::ranges::find(values, value) != values.end()) return value;
  std::string expected;
  for (const std::string_view v : values) expected += (expected.empty() ? "" : " or ") + std::string(v);
  return std::unexpected(unsupported(place, fmt::format("{} {}", *names.begin(), value), expected, value));
}

Result<FolderQuantization> awq(const json& config, const std::string& place) {
  TRY(one_of(config, place, {"version"}, "gemm", {"gemm"}));
  TRY(one_of(config, place, {"bits", "w_bit"}, "4", {"4"}));
  TRY(one_of(config, place, {"zero_point"}, "true", {"true"}));
  return FolderQuantization{.method = Method::awq};
}

Result<FolderQuantization> gptq(const json& config, const std::string& place) {
  const std::string bits = TRY(one_of(config, place, {"bits"}, "4", {"4", "8"}));
  const std::string format = TRY(one_of(config, place, {"checkpoint_format", "format"}, "gptq", {"gptq", "gptq_v2"}));
  if (config.contains("dynamic") && config["dynamic"].is_object())
    for (const auto& [pattern, values] : config["dynamic"].items())
      if (!pattern.starts_with("-:")) return std::unexpected(unsupported(place, "other formats for some modules", "no dynamic", pattern));
  return FolderQuantization{.method = Method::gptq, .bits = bits == "8" ? 8 : 4, .zeros_minus_one = format == "gptq"};
}

Error bad_tensor(const std::string& name, const std::string& expected, const std::string& found) {
  return fail(Code::bad_input, fmt::format("tensor '{}'", name), "the tensor is not what quantization_config promises")
      .expected(expected)
      .found(found);
}

struct Layer {
  std::string stem;
  const Tensor *codes, *zeros, *scales;
  int64_t inputs, outputs, group;
  int bits;

  int64_t groups() const { return inputs / group; }
  int64_t of_word() const { return kWordBits / bits; }
};

Result<const Tensor*> required_tensor(const files::SafeTensorsCheckpoint& checkpoint, std::string_view stem, const char* end) {
  const std::string name = std::string(stem) + end;
  const Tensor* const found = checkpoint.find(name);
  if (!found) return std::unexpected(bad_tensor(name, "a tensor of that name, beside .qweight", "none"));
  return found;
}

Result<void> require(const Layer& layer, const Tensor& tensor, const char* end, bool words, Sizes shape) {
  const bool fits = words ? tensor.dtype() == DType::i32 : is_arithmetic_float(tensor.dtype());
  if (fits && tensor.shape() == shape) return {};
  return std::unexpected(bad_tensor(layer.stem + end, words ? type_text(DType::i32, shape) : "floats, " + type_text(DType::f16, shape),
                                    type_text(tensor.dtype(), tensor.shape())));
}

/// The inputs by their groups, those of one in order (desc_act); empty: as they are.
Result<std::vector<int64_t>> input_order_of(const files::SafeTensorsCheckpoint& checkpoint, const Layer& layer) {
  const std::string name = layer.stem + ".g_idx";
  const Tensor* const groups = checkpoint.find(name);
  std::vector<int64_t> out;
  if (!groups) return out;
  if (groups->dtype() != DType::i32 || groups->shape() != Sizes{layer.inputs})
    return std::unexpected(bad_tensor(name, type_text(DType::i32, {layer.inputs}), type_text(groups->dtype(), groups->shape())));
  for (int64_t k = 0; k < layer.inputs; ++k) out.push_back(k);
  std::ranges::sort(out, {}, [&](int64_t k) { return std::pair(groups->integer(k), k); });
  for (int64_t column = 0; column < layer.inputs; ++column)
    if (groups->integer(out[static_cast<size_t>(column)]) != column / layer.group)
      return std::unexpected(bad_tensor(name, fmt::format("{} inputs of each group from 0 to {}", layer.group, layer.groups() - 1),
                                        fmt::format("another number of group {}", column / layer.group)));
  if (std::ranges::is_sorted(out)) out.clear();
  return out;
}

Result<Layer> layer_of(const files::SafeTensorsCheckpoint& checkpoint, std::string_view stem, const FolderQuantization& how) {
  const bool is_awq = how.method == Method::awq;
  Layer out{std::string(stem),
            TRY(required_tensor(checkpoint, stem, ".qweight")),
            TRY(required_tensor(checkpoint, stem, ".qzeros")),
            TRY(required_tensor(checkpoint, stem, ".scales")),
            0,
            0,
            how.group,
            how.bits};
  const Sizes& shape = out.codes->shape();
  if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0)
    return std::unexpected(bad_tensor(out.stem + ".qweight", "a matrix of i32", type_text(out.codes->dtype(), shape)));
  out.inputs = is_awq ? shape[0] : shape[0] * out.of_word();
  out.outputs = is_awq ? shape[1] * out.of_word() : shape[1];
  if (out.group == -1) out.group = out.inputs;
  if (out.group <= 0 || ir::block_of_group(out.group, out.inputs) == 0)
    return fail(Code::not_supported, fmt::format("tensor '{}.qweight'", stem), "not supported yet: groups of this size")
        .expected(fmt::format("whole groups of a multiple of 32 among {} inputs", out.inputs))
        .found(fmt::format("group_size {}", out.group));
  TRY(require(out, *out.codes, ".qweight", true, shape));
  TRY(require(out, *out.zeros, ".qzeros", true, {out.groups(), out.outputs / out.of_word()}));
  TRY(require(out, *out.scales, ".scales", false, {out.groups(), out.outputs}));
  return out;
}

/// Codes of words [rows, columns], side by side: [rows, columns * 32 / bits]. added: to each word, which 32 bits wrap.
std::vector<uint8_t> along_columns(const Tensor& words, int bits, const std::array<int, 8>& order, uint32_t added) {
  const int64_t of_word = kWordBits / bits;
  std::vector<uint8_t> out(static_cast<size_t>(words.count() * of_word));
  for (int64_t k = 0; k < words.count(); ++k) {
    const uint32_t word = static_cast<uint32_t>(words.as<int32_t>()[static_cast<size_t>(k)]) + added;
    for (int64_t j = 0; j < of_word; ++j)
      out[static_cast<size_t>(k * of_word + order[static_cast<size_t>(j)])] = word >> (j * bits) & ((1U << bits) - 1);
  }
  return out;
}

/// Codes of words [rows, columns], below each other: [rows * 32 / bits, columns].
std::vector<uint8_t> along_rows(const Tensor& words, int bits) {
  const int64_t of_word = kWordBits / bits, columns = words.shape()[1];
  std::vector<uint8_t> out(static_cast<size_t>(words.count() * of_word));
  for (int64_t k = 0; k < words.count(); ++k) {
    const auto word = static_cast<uint32_t>(words.as<int32_t>()[static_cast<size_t>(k)]);
    const int64_t first = k / columns * of_word * columns + k % columns;
    for (int64_t j = 0; j < of_word; ++j) out[static_cast<size_t>(first + j * columns)] = word >> (j * bits) & ((1U << bits) - 1);
  }
  return out;
}

/// [inputs, outputs] with the rows in that order.
std::vector<uint8_t> reordered_rows(const std::vector<uint8_t>& codes, const std::vector<int64_t>& order, int64_t outputs) {
  std::vector<uint8_t> out;
  out.reserve(codes.size());
  for (const int64_t row : order) out.insert(out.end(), codes.begin() + row * outputs, codes.begin() + (row + 1) * outputs);
  return out;
}

}  // namespace

Result<FolderQuantization> folder_quantization(const json& config, const std::string& place) {
  if (!config.contains("quantization_config") || config["quantization_config"].is_null()) return FolderQuantization{};
  const json& how = config["quantization_config"];
  const std::string method = how.is_object() ? field(how, {"quant_method"}).value_or("(none)") : "(no object)";
  if (method != "awq" && method != "gptq") return std::unexpected(unsupported(place, "quant_method " + method, "awq or gptq", method));
  FolderQuantization out = TRY(method == "awq" ? awq(how, place) : gptq(how, place));
  for (const char* name : {"group_size", "q_group_size"})
    if (how.contains(name) && how[name].is_number_integer()) out.group = how[name].get<int64_t>();
  return out;
}

std::optional<std::string_view> quantized_stem(const files::SafeTensorsCheckpoint& checkpoint, std::string_view name) {
  const size_t point = name.rfind('.');
  if (point == name.npos) return std::nullopt;
  const std::string_view stem = name.substr(0, point), end = name.substr(point);
  if (end != ".qweight" && end != ".qzeros" && end != ".scales" && end != ".g_idx") return std::nullopt;
  return checkpoint.find(std::string(stem) + ".qweight") ? std::optional(stem) : std::nullopt;
}

Result<QuantizedWeight> quantized_weight(const files::SafeTensorsCheckpoint& checkpoint, std::string_view stem,
                                         const FolderQuantization& how) {
  const Layer layer = TRY(layer_of(checkpoint, stem, how));
  const auto& order = how.method == Method::awq ? kAwqOrder : kPlainOrder;
  QuantizedWeight out{.weight = nullptr, .input_order = TRY(input_order_of(checkpoint, layer))};
  ir::GroupedCodes grouped{.rows = layer.outputs, .columns = layer.inputs, .code_bits = how.bits, .group = layer.group};
  const uint32_t one = how.bits == 4 ? 0x11111111 : 0x01010101;
  const auto zeros = along_columns(*layer.zeros, how.bits, order, how.zeros_minus_one ? one : 0);
  const Tensor scales = TRY(ir::materialise(*ir::cast(ir::constant_of(*layer.scales), DType::f32)));
  auto codes = how.method == Method::awq ? along_columns(*layer.codes, how.bits, order, 0) : along_rows(*layer.codes, how.bits);
  if (!out.input_order.empty()) codes = reordered_rows(codes, out.input_order, layer.outputs);
  grouped.codes = ir::transposed(codes, layer.inputs, layer.outputs);
  grouped.scales = ir::transposed(scales.as<float>(), layer.groups(), layer.outputs);
  grouped.zeros = ir::transposed(std::vector<float>(zeros.begin(), zeros.end()), layer.groups(), layer.outputs);
  auto weight = ir::grouped_constant(grouped);
  if (!weight) {
    std::string place = fmt::format("tensor '{}.scales', {}", stem, weight.error()->place);
    return std::unexpected(std::move(weight).error().placed_at(std::move(place)));
  }
  out.weight = *std::move(weight);
  return out;
}

}  // namespace tenon::nn
