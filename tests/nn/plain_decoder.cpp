// SPDX-License-Identifier: Apache-2.0
#include "plain_decoder.h"

#include <algorithm>
#include <cmath>

namespace tenon::nn::testing {
namespace {

using Row = std::vector<double>;

/// To that many significant bits; below 2^least the step stays that of 2^least.
double rounded(double x, int bits, int least) {
  const double step = std::ldexp(1, std::max(std::ilogb(x == 0 ? 1 : x), least) + 1 - bits);
  return std::nearbyint(x / step) * step;
}

/// Elements of a key or value of one head, as a cache stores them.
void round_row(Row& row, CacheType cache) {
  double largest = 0;
  for (double v : row) largest = std::max(largest, std::abs(v));
  for (double& v : row) {
    if (cache == CacheType::f16) v = rounded(v, 11, -14);
    if (cache == CacheType::bf16) v = rounded(v, 8, -126);
    if (cache == CacheType::fp8 && largest > 0) v = rounded(v / (largest / 448), 4, -6) * (largest / 448);
    if (cache == CacheType::int8 && largest > 0) v = std::nearbyint(v / (largest / 127)) * (largest / 127);
  }
}

struct Plain {
  const DecoderConfig& c;
  const Weights& weights;

  bool has(const std::string& name) const { return weights.shape_of(name).has_value(); }
  Row all(const std::string& name) const {
    const auto values = weights.constant(name)->tensor()->as<float>();
    return {values.begin(), values.end()};
  }
  /// Rows begin .. begin + count of NAME.weight times x, and their bias.
  Row product(const std::string& name, const Row& x, int64_t begin, int64_t count) const {
    const Row w = all(name + ".weight"), bias = has(name + ".bias") ? all(name + ".bias") : Row{};
    Row y(static_cast<size_t>(count));
    for (int64_t o = 0; o < count; ++o) {
      double sum = bias.empty() ? 0 : bias[static_cast<size_t>(begin + o)];
      for (size_t i = 0; i < x.size(); ++i) sum += w[static_cast<size_t>(begin + o) * x.size() + i] * x[i];
      y[static_cast<size_t>(o)] = sum;
    }
    return y;
  }
  Row norm(const std::string& name, Row x) const {
    const Row w = all(name + ".weight"), bias = has(name + ".bias") ? all(name + ".bias") : Row(x.size(), 0);
    double mean = 0, squares = 0;
    if (c.normalization == Normalization::layer)
      for (double v : x) mean += v / static_cast<double>(x.size());
    for (double v : x) squares += (v - mean) * (v - mean) / static_cast<double>(x.size());
    const double epsilon = static_cast<float>(c.epsilon);  // as the graph's attribute has it
    for (size_t i = 0; i < x.size(); ++i) x[i] = (x[i] - mean) / std::sqrt(squares + epsilon) * w[i] + bias[i];
    return x;
  }
  /// length: of the sequence up to the query that reads the head.
  void rotate(Row& head, int64_t position, bool has_window, int64_t length = 0) const {
    if (c.rotation == Rotation::none) return;
    const int64_t n = c.rotated_size;
    const bool is_apart = has_window && c.window_rotation_base > 0;
    for (int64_t i = 0; i < n / 2; ++i) {
      double base = is_apart ? c.window_rotation_base : c.rotation_base;
      if (c.dynamic_context > 0 && !is_apart && length > c.dynamic_context) {
        const double share = static_cast<double>(length) / static_cast<double>(c.dynamic_context);
        base *= std::pow(c.dynamic_factor * share - (c.dynamic_factor - 1), static_cast<double>(n) / static_cast<double>(n - 2));
      }
      double angle = static_cast<double>(position) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(n));
      if (!is_apart) angle /= c.rotation_factor;
      if (!is_apart && !c.rotation_divisors.empty()) angle /= c.rotation_divisors[static_cast<size_t>(i)];
      const double magnitude = is_apart ? 1 : c.rotation_magnitude;
      double cosine = std::cos(angle) * magnitude, sine = std::sin(angle) * magnitude;
      const bool interleaved = c.rotation == Rotation::interleaved;
      double &a = head[static_cast<size_t>(interleaved ? 2 * i : i)], &b = head[static_cast<size_t>(interleaved ? 2 * i + 1 : i + n / 2)];
      const double x = a, y = b;
      a = x * cosine - y * sine;
      b = x * sine + y * cosine;
    }
  }
  std::vector<Row> heads(const std::string& layer, const Row& x, char which, int64_t position, bool has_window, bool rotates = true) const {
    const int64_t q = c.heads * c.head_size, k = c.key_heads * c.head_size, count = which == 'q' ? c.heads : c.key_heads;
    const bool joint = has(layer + "attn_qkv.weight");
    const int64_t begin = !joint || which == 'q' ? 0 : which == 'k' ? q : q + k;
    Row y = product(joint ? layer + "attn_qkv" : layer + "attn_" + which, x, begin, count * c.head_size);
    std::vector<Row> out;
    const std::string name = layer + "attn_" + which + "_norm";
    const bool is_normed = which != 'v' && has(name + ".weight");
    const bool is_joint_norm = is_normed && (*weights.shape_of(name + ".weight"))[0] > c.head_size;
    if (is_joint_norm) y = norm(name, y);
    for (int64_t h = 0; h < count; ++h) {
      Row head(y.begin() + h * c.head_size, y.begin() + (h + 1) * c.head_size);
      if (is_normed && !is_joint_norm) head = norm(name, head);
      if (which != 'v' && rotates) rotate(head, position, has_window);
      out.push_back(head);
    }
    return out;
  }
  double capped(double x, double cap) const { return cap == 0 ? x : cap * std::tanh(x / cap); }
  double activated(double x) const {
    switch (c.activation) {
      case Activation::silu: return x / (1 + std::exp(-x));
      case Activation::gelu: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
      case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
      case Activation::relu: return std::max(x, 0.0);
    }
    return 0;
  }
  Row fed(const std::string& layer, const Row& x) const {
    Row inner;
    if (!c.gated) inner = product(layer + "ffn_up", x, 0, c.inner_width);
    const bool joint = !has(layer + "ffn_gate.weight");
    if (c.gated) inner = product(layer + (joint ? "ffn_up" : "ffn_gate"), x, 0, c.inner_width);
    for (double& v : inner) v = activated(v);
    if (c.gated) {
      const Row up = product(layer + "ffn_up", x, joint ? c.inner_width : 0, c.inner_width);
      for (size_t i = 0; i < inner.size(); ++i) inner[i] *= up[i];
    }
    return product(layer + "ffn_down", inner, 0, c.width);
  }
};

}  // namespace

std::vector<double> plain_logits(const DecoderConfig& c, const Weights& weights, const std::vector<int64_t>& tokens, CacheType cache,
                                 const PlainStream& stream) {
  const Plain p{c, weights};
  const Row table = p.all("token_embd.weight");
  std::vector<Row> x;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const auto row = table.begin() + tokens[t] * c.width;
    x.emplace_back(row, row + c.width);
    if (p.has("position_embd.weight")) {
      const Row places = p.all("position_embd.weight");
      for (size_t i = 0; i < x.back().size(); ++i) x.back()[i] += places[t * x.back().size() + i];
    }
    for (double& v : x.back()) v *= static_cast<float>(c.embedding_scale);
    if (p.has("token_embd_norm.weight")) x.back() = p.norm("token_embd_norm", x.back());
  }
  for (int64_t l = 0; l < c.layers; ++l) {
    const std::string layer = "blk." + std::to_string(l) + ".";
    const bool after = c.norms != NormPlacement::before, before = c.norms != NormPlacement::after;
    const bool has_second = p.has(layer + "attn_norm_2.weight");
    int64_t window = c.windows.empty() ? 0 : c.windows[static_cast<size_t>(l)];
    const bool has_window = window > 0, is_stream = stream.window > 0, keeps_window = has_window && window <= stream.window;
    const int64_t sinks = is_stream && !keeps_window ? stream.sinks : 0;
    if (is_stream && !keeps_window) window = stream.window;
    // Keys of a stream, and of a base that grows, are kept as they are before their rotation.
    const bool as_read = is_stream || c.dynamic_context > 0;
    const auto rotated = [&](Row row, int64_t position, size_t query) {
      p.rotate(row, position, has_window, static_cast<int64_t>(query) + 1);
      return row;
    };
    std::vector<std::vector<Row>> keys, values;
    std::vector<Row> next = x;
    for (size_t t = 0; t < tokens.size(); ++t) {
      const Row h = before ? p.norm(layer + "attn_norm", x[t]) : x[t], own = has_second ? p.norm(layer + "attn_norm_2", x[t]) : h;
      keys.push_back(p.heads(layer, own, 'k', static_cast<int64_t>(t), has_window, !as_read));
      values.push_back(p.heads(layer, own, 'v', static_cast<int64_t>(t), has_window));
      for (auto* stored : {&keys.back(), &values.back()})
        for (Row& row : *stored) round_row(row, cache);
      const int64_t shift = is_stream ? std::max<int64_t>(0, static_cast<int64_t>(t) - stream.window) : 0;
      auto queries = p.heads(layer, own, 'q', 0, has_window, false);
      for (Row& query : queries) query = rotated(query, static_cast<int64_t>(t) - shift, t);
      Row joined;
      for (int64_t head = 0; head < c.heads; ++head) {
        const auto kv = static_cast<size_t>(head / (c.heads / c.key_heads));
        const size_t first = window > 0 ? static_cast<size_t>(std::max<int64_t>(0, static_cast<int64_t>(t) + 1 - window)) : 0;
        Row scores;
        std::vector<size_t> read;
        for (size_t s = 0; s <= t; ++s)
          if (s >= first || static_cast<int64_t>(s) < sinks) read.push_back(s);
        for (size_t s : read) {
          const auto place = static_cast<int64_t>(s);
          const Row key = as_read ? rotated(keys[s][kv], place < sinks ? place : place - shift, t) : keys[s][kv];
          double sum = 0;
          for (size_t i = 0; i < queries[static_cast<size_t>(head)].size(); ++i) sum += queries[static_cast<size_t>(head)][i] * key[i];
          const double scale = c.score_scale == 0 ? 1 / std::sqrt(static_cast<double>(c.head_size)) : static_cast<float>(c.score_scale);
          const double distance = static_cast<double>(s) - static_cast<double>(t);
          const double bias = c.linear_bias ? distance * std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(c.heads)) : 0;
          scores.push_back(p.capped(sum * scale, c.score_softcap) + bias);
        }
        const double most = *std::ranges::max_element(scores);
        double total = 0;
        for (double& s : scores) total += s = std::exp(s - most);
        for (int64_t i = 0; i < c.head_size; ++i) {
          double sum = 0;
          for (size_t s = 0; s < scores.size(); ++s) sum += scores[s] / total * values[read[s]][kv][static_cast<size_t>(i)];
          joined.push_back(sum);
        }
      }
      Row attended = p.product(layer + "attn_output", joined, 0, c.width);
      if (after) attended = p.norm(layer + "post_attention_norm", attended);
      Row middle = x[t];
      for (size_t i = 0; i < middle.size(); ++i) middle[i] += attended[i] * static_cast<float>(c.residual_scale);
      const Row& read = c.joint_residual ? x[t] : middle;
      const bool shares_norm = c.joint_residual && !p.has(layer + "ffn_norm.weight");
      Row fed = p.fed(layer, shares_norm ? h : before ? p.norm(layer + "ffn_norm", read) : read);
      if (after) fed = p.norm(layer + "post_ffw_norm", fed);
      for (size_t i = 0; i < middle.size(); ++i) next[t][i] = middle[i] + fed[i] * static_cast<float>(c.residual_scale);
    }
    x = next;
  }
  const Row last = p.norm("output_norm", x.back());
  const int64_t vocabulary = static_cast<int64_t>(table.size()) / c.width;
  Row logits;
  if (p.has("output.weight")) logits = p.product("output", last, 0, vocabulary);
  else
    for (int64_t v = 0; v < vocabulary; ++v) {
      double sum = 0;
      for (int64_t i = 0; i < c.width; ++i) sum += table[static_cast<size_t>(v * c.width + i)] * last[static_cast<size_t>(i)];
      logits.push_back(sum);
    }
  for (double& v : logits) v = p.capped(v * static_cast<float>(c.logit_scale), c.logit_softcap);
  return logits;
}

}  // namespace tenon::nn::testing
