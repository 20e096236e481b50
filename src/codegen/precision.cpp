// SPDX-License-Identifier: Apache-2.0
#include "codegen/precision.h"

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

}  // namespace tenon::codegen
