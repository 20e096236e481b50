// SPDX-License-Identifier: Apache-2.0
// Compiles the model that is its argument, saves it, loads it again and runs it.
#include <tenon/tenon.h>

#include <cstdio>

namespace {

tenon::Result<float> classify(const char* model) {
  auto compiled = tenon::compile(model);
  if (!compiled) return std::unexpected(compiled.error());
  if (auto saved = compiled->save("mlp.tenon"); !saved) return std::unexpected(saved.error());

  auto engine = tenon::Engine::load("mlp.tenon");
  if (!engine) return std::unexpected(engine.error());
  const std::vector<float> x(3 * 16, 0.5F);
  auto results = engine->run({{"x", tenon::Array({3, 16}, x)}});
  if (!results) return std::unexpected(results.error());
  return results->at("y").as<float>()[0];
}

}  // namespace

int main(int argc, char** argv) {
  const auto first = classify(argc > 1 ? argv[1] : "mlp.onnx");
  if (first) std::printf("y[0] = %.4f\n", *first);
  else std::fprintf(stderr, "%s\n", first.error().text().c_str());
  return first ? 0 : 1;
}
