// SPDX-License-Identifier: Apache-2.0
#include "weights.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <random>

#include "import/onnx_model.h"

namespace tenon::tests {

namespace {

constexpr int kFloat = 1;  // of ONNX
constexpr int64_t kTokens = 96;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int64_t entry(const import::OnnxTensor& tensor, std::string_view key) {
  int64_t value = 0;
  for (const auto& [name, text] : tensor.entries)
    if (name == key) std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

struct Spread {
  double middle = 0, width = 1;
};

/// Embeddings as they are, vectors as norms' scales or as biases, the rest such that a layer keeps the size of its input.
Spread spread_of(const import::OnnxTensor& tensor) {
  if (contains(tensor.name, "embed") || contains(tensor.name, "position") || contains(tensor.name, "wte") || contains(tensor.name, "wpe"))
    return {0, 1};
  if (tensor.dims.size() == 1) return contains(tensor.name, "norm") && contains(tensor.name, "weight") ? Spread{1, 0.2} : Spread{0, 0.3};
  double inputs = 1;
  for (size_t k = 1; k < tensor.dims.size(); ++k) inputs *= static_cast<double>(tensor.dims[k]);
  // A matrix may stand either way round.
  if (tensor.dims.size() == 2) inputs = std::sqrt(static_cast<double>(tensor.dims[0]) * inputs);
  return {0, 1.4 / std::sqrt(inputs)};
}

int64_t size_of(Dim dim, int round) {
  static const std::map<std::string, int64_t, std::less<>> kSizes[] = {
      {{"batch", 2}, {"images", 3}, {"sequence", 9}, {"decoder_sequence", 6}, {"height", 32}, {"width", 64}},
      {{"batch", 3}, {"images", 2}, {"sequence", 13}, {"decoder_sequence", 10}, {"height", 64}, {"width", 32}}};
  return dim.is_number() ? dim.value() : kSizes[round].at(dim.text());
}

int64_t element(std::string_view name, int64_t row, int64_t column, int64_t columns, int round, std::mt19937_64& draw) {
  if (contains(name, "mask")) {
    const int64_t off = 2 * row;
    return round == 0 ? column < std::max<int64_t>(1, columns - off) : column == 0 || column > off;
  }
  if (contains(name, "position")) return column;
  return static_cast<int64_t>(draw() % (contains(name, "type") ? 2 : kTokens));
}

}  // namespace

Result<void> write_weights(const std::filesystem::path& model, const std::filesystem::path& folder) {
  const std::string bytes = read_file(model);
  const import::OnnxModel parsed = TRY(import::parse_onnx(bytes, model.string()));
  std::vector<float> weights;
  for (const import::OnnxTensor& t : parsed.graph.initializers) {
    if (!t.external) continue;
    if (t.dtype != kFloat) return fail(Code::not_supported, std::string(t.name), "a stripped weight that is not f32");
    const auto begin = static_cast<size_t>(entry(t, "offset")) / 4, count = static_cast<size_t>(entry(t, "length")) / 4;
    weights.resize(std::max(weights.size(), begin + count));
    std::mt19937_64 draw(begin + 1);
    std::normal_distribution<double> normal;
    const Spread s = spread_of(t);
    for (size_t k = 0; k < count; ++k) weights[begin + k] = static_cast<float>(s.middle + s.width * normal(draw));
  }
  std::ofstream file(folder / "weights.bin", std::ios::binary);
  file.write(reinterpret_cast<const char*>(weights.data()), static_cast<std::streamsize>(weights.size() * 4));
  if (!file.flush()) return fail(Code::write_failed, folder.string(), "the weights cannot be written");
  return {};
}

std::vector<Tensor> draw_inputs(const ir::Graph& graph, int round, int64_t last_token) {
  std::vector<Tensor> inputs;
  std::mt19937_64 draw(static_cast<uint64_t>(round) + 1);
  std::normal_distribution<double> normal;
  for (ir::ValueId id : graph.inputs()) {
    const ir::Value& value = graph.value(id);
    Sizes shape;
    for (Dim d : *value.type.shape) shape.push_back(size_of(d, round));
    Tensor t = *Tensor::make(value.type.dtype, shape);
    const int64_t columns = shape.back();
    for (int64_t k = 0; k < t.count(); ++k) {
      if (is_float(t.dtype())) t.set_number(k, normal(draw));
      else if (last_token >= 0 && value.name == "input_ids" && (k + 1) % columns == 0) t.set_integer(k, last_token);
      else t.set_integer(k, element(value.name, k / columns, k % columns, columns, round, draw));
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

}  // namespace tenon::tests
