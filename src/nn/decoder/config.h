// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::nn {

/// RMSNormalization or LayerNormalization.
enum class Normalization : uint8_t { root_mean_square, layer };

/// Which two elements of a head are rotated together (RoPE): interleaved: 2i and 2i + 1; half_split: i and i + size / 2; none: no rotation.
enum class Rotation : uint8_t { none, interleaved, half_split };

/// The function of the feed-forward part.
enum class Activation : uint8_t { silu, gelu, gelu_tanh, relu };

/// Where the normalizations of a layer are.
enum class NormPlacement : uint8_t {
  before,            ///< x + f(norm(x))
  before_and_after,  ///< x + norm(f(norm(x))), as Gemma 2 has it
  after,             ///< x + norm(f(x)), as OLMo 2 has it
};

/// The architecture of a decoder-only transformer; a family fills it in. Biases, norms of queries and keys, a joint projection of q, k and
/// v, and a tied output are used where the checkpoint has, or lacks, their weights.
struct DecoderConfig {
  int64_t layers = 0;       ///< number of layers
  int64_t width = 0;        ///< of the embedding
  int64_t heads = 0;        ///< of queries
  int64_t key_heads = 0;    ///< of keys and values; divides `heads`
  int64_t head_size = 0;    ///< elements of a head
  int64_t inner_width = 0;  ///< of the feed-forward part
  int64_t context = 0;      ///< tokens that the model was trained for
  Normalization normalization = Normalization::root_mean_square;
  NormPlacement norms = NormPlacement::before;
  double epsilon = 1e-5;        ///< of normalizations
  bool joint_residual = false;  ///< attention and feed-forward read the same x, and both are added to it (GPT-J, Phi-2)
  Rotation rotation = Rotation::none;
  int64_t rotated_size = 0;                    ///< the first elements of a head, which are rotated
  double rotation_base = 10000;                ///< pair i turns base^(-2i / rotated_size) radians a token
  double rotation_factor = 1;                  ///< positions are divided by it (linear scaling)
  std::vector<double> rotation_divisors = {};  ///< of the frequency of each rotated pair; empty: 1 (llama3, YaRN, LongRoPE)
  double rotation_magnitude = 1;               ///< cosines and sines are multiplied by it (YaRN, LongRoPE)
  /// Above 0: keys are rotated as they are read, by a base that grows with the positions of queries beyond so many tokens (dynamic NTK).
  int64_t dynamic_context = 0;
  double dynamic_factor = 1;        ///< how fast that base grows
  double window_rotation_base = 0;  ///< of layers with a window, whose rotation is not scaled; 0: as all layers (Gemma 3)
  bool linear_bias = false;         ///< scores of keys fall linearly with their distance, by a slope a head (ALiBi)
  Activation activation = Activation::silu;
  bool gated = true;                            ///< feed-forward is down(act(gate(x)) * up(x)); else down(act(up(x)))
  double embedding_scale = 1;                   ///< embeddings are multiplied by it
  double residual_scale = 1;                    ///< outputs of attention and feed-forward, before they are added to x
  double logit_scale = 1;                       ///< logits are multiplied by it
  double score_scale = 0;                       ///< factor of products of queries and keys; 0: 1 / sqrt(head_size)
  double score_softcap = 0, logit_softcap = 0;  ///< c of c tanh(x / c), applied to scores and logits; 0: none
  /// Of each layer, how many keys up to its own position a query reads; 0: all. Empty: all, in each layer.
  std::vector<int64_t> windows = {};
};

}  // namespace tenon::nn
