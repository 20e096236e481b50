// SPDX-License-Identifier: Apache-2.0
// Loads the engine that is its argument and runs it in a context of its own, results written where the caller says.
#include <tenon/tenon.h>

#include <cstdio>

namespace {

tenon::Result<void> run(const char* path) {
  auto engine = tenon::Engine::load(path);
  if (!engine) return std::unexpected(engine.error());
  auto context = tenon::Context::create(*engine);
  if (!context) return std::unexpected(context.error());
  const std::vector<float> x(3 * 16, 0.5F);
  std::vector<float> y(3 * 10);
  if (auto bound = context->bind_output(0, y.data(), y.size() * sizeof(float)); !bound) return bound;
  const tenon::Array input({3, 16}, x);
  if (auto results = context->run({&input, 1}); !results) return std::unexpected(results.error());
  std::printf("y[0] = %.4f\n", y[0]);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const auto done = run(argc > 1 ? argv[1] : "mlp.tenon");
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 1;
}
