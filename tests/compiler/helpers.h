// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "weather.h"

namespace tenon::compiler::testing {

inline Result<std::shared_ptr<runtime::Engine>> engine_of(std::unique_ptr<ir::Graph> graph, int opt) {
  const CompileOptions options = tests::compile_options(opt);
  return tests::engine_from(TRY(compile(tests::in_weather(std::move(graph)), options)), options);
}

inline Result<std::shared_ptr<runtime::Engine>> engine_of(std::string_view text, int opt) {
  return engine_of(TRY(ir::parse(text, ops::table())), opt);
}

/// Runs, and copies the results, which live in the context.
inline Result<std::vector<Tensor>> copied_results(runtime::Context& context, std::span<const Tensor> inputs) {
  std::vector<Tensor> copies;
  for (const Tensor& t : TRY(context.run(inputs, tests::run_options()))) {
    copies.push_back(TRY(with_each_tensor(t, [](const Tensor& tensor) -> Result<Tensor> {
      if (!tensor.has_bytes()) return tensor;
      Tensor copy = TRY(Tensor::make(tensor.dtype(), tensor.shape()));
      if (tensor.byte_size() > 0) std::copy_n(tensor.data(), tensor.byte_size(), copy.mutable_data());
      return copy;
    })));
  }
  return copies;
}

/// Compiles and runs once.
inline Result<std::vector<Tensor>> compiled_results(std::unique_ptr<ir::Graph> graph, std::span<const Tensor> inputs, int opt) {
  auto context = TRY(runtime::Context::create(TRY(engine_of(std::move(graph), opt))));
  return copied_results(*context, inputs);
}

/// How far a compiled result may lie from the reference, which rounds from f64 after each op: relative above 1, absolute below.
inline double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-9;
    case DType::f32: return 3e-5;
    case DType::f16: return 4e-3;
    case DType::bf16: return 3e-2;
    default: return 0.26;  // one step of an 8-bit float with two bits of fraction
  }
}

/// Empty where both agree, else the first difference. Integers and bools agree exactly.
/// factor: of tolerance_of the dtype; 0: exactly equal.
inline std::string difference(const Tensor& want, const Tensor& got, double factor = 1) {
  if (want.shape() != got.shape() || want.dtype() != got.dtype())
    return type_text(got.dtype(), got.shape()) + " instead of " + type_text(want.dtype(), want.shape());
  if (want.holds_tensors()) {
    std::string found;
    for (size_t k = 0; k < want.elements().size() && found.empty(); ++k) found = difference(want.elements()[k], got.elements()[k], factor);
    return found;
  }
  if (want.dtype() == DType::string) return want.strings() == got.strings() ? "" : "other strings";
  const bool numbers = is_float(want.dtype()) || is_complex(want.dtype());
  for (int64_t i = 0; i < want.count(); ++i) {
    const double x = numbers ? want.number(i) : 0, y = numbers ? got.number(i) : 0;
    const bool same = numbers ? (std::isnan(x) && std::isnan(y)) || x == y ||
                                    std::fabs(x - y) <= factor * tolerance_of(want.dtype()) * std::max(1.0, std::fabs(x))
                              : want.integer(i) == got.integer(i);
    if (same) continue;
    return "element " + std::to_string(i) + " is " + (numbers ? std::to_string(y) : std::to_string(got.integer(i))) + " instead of " +
           (numbers ? std::to_string(x) : std::to_string(want.integer(i)));
  }
  return "";
}

}  // namespace tenon::compiler::testing
