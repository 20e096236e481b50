// SPDX-License-Identifier: Apache-2.0
#include "codegen/precision.h"

#include <fmt/format.h>

namespace tenon::codegen {

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Result<Precision> precision_named(std::string_view name) {
  for (const Precision p : {Precision::f32, Precision::bf16})
    if (name_of(p) == name) return p;
  return fail(Code::bad_usage, "precision", "there is no such precision").expected("f32 or bf16").found(std::string(name));
}

Result<void> check_precision(Precision precision, const Target& target) {
  if (precision == Precision::f32 || target.multiply_add(DType::bf16, DType::bf16, DType::f32)) return {};
  return fail(Code::wrong_target, "precision bf16", "code for this CPU has no products of bf16")
      .expected("a CPU with AVX512_BF16 (AMD since Zen 4, Intel since Cooper Lake), or its target x86_avx512_bf16")
      .found(std::string(target.title))
      .advice("leave the precision at f32, or build for another CPU with --target x86_avx512_bf16");
}

std::string_view name_of(Activations activations) { return kActivationNames[static_cast<size_t>(activations)]; }

Result<void> check_activations(Activations activations, const Target& target) {
  const bool bytes = activations == Activations::i8;
  const bool has =
      bytes ? target.multiply_add(DType::u8, DType::i8, DType::i32) : target.multiply_add(DType::bf16, DType::bf16, DType::f32);
  if (activations == Activations::f32 || has) return {};
  return fail(Code::wrong_target, fmt::format("activations {}", name_of(activations)),
              fmt::format("code for this CPU has no products of {}", bytes ? "bytes" : "bf16"))
      .expected(bytes ? "a CPU with AVX512_VNNI (AMD since Zen 4, Intel since Cascade Lake), or its target x86_avx512_vnni"
                      : "a CPU with AVX512_BF16 (AMD since Zen 4, Intel since Cooper Lake), or its target x86_avx512_bf16")
      .found(std::string(target.title))
      .advice(fmt::format("leave activations at f32, or build for another CPU with --target {}",
                          bytes ? "x86_avx512_vnni" : "x86_avx512_bf16"));
}

}  // namespace tenon::codegen
