// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tenon::nn {

/// How a decoder's states store keys and values. f16, bf16: rounded to nearest. int8: whole numbers from -127 to 127 and, for each token
/// and KV head, a scale in f32, its largest magnitude / 127: an element is at most scale / 2 off. fp8: f8e4m3fn and such a scale, its
/// largest magnitude / 448: an element is at most 1/16 of itself off, or scale / 1,024 where it is smaller than scale / 64.
enum class CacheType : uint8_t { f32, f16, bf16, int8, fp8 };

}  // namespace tenon::nn
