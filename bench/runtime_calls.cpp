// SPDX-License-Identifier: Apache-2.0
// What a call of ONNX Runtime itself takes: one session, on tensors that stay where they are, nothing of Tenon between. JSON on stdout.
//
// bench_runtime_calls LIBRARY MODEL: a model of one input "x" and one output "y" of kElements floats.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "backends/onnxruntime/device/api.h"
#include "files/mapped_file.h"

namespace {

using namespace tenon;
using namespace tenon::backends::onnxruntime;

constexpr int64_t kElements = 16;
constexpr int kCalls = 1000, kTurns = 21;

Result<Owned<Value>> tensor_over(const Api& api, std::span<float, kElements> elements) {
  constexpr ElementType kFloat = 1;
  return api.make(function::release_value, [&](Value** made) {
    return api[function::create_tensor_over](api.memory(), elements.data(), elements.size_bytes(), &kElements, 1, kFloat, made);
  });
}

Result<Owned<Session>> session_of(const Api& api, std::span<const std::byte> model) {
  const auto options =
      TRY(api.make(function::release_session_options, [&](SessionOptions** made) { return api[function::create_session_options](made); }));
  TRY(api.check(api[function::set_intra_op_threads](options.get(), 1)));
  return api.make(function::release_session, [&](Session** made) {
    return api[function::create_session](api.env(), model.data(), model.size(), options.get(), made);
  });
}

Result<double> ns_of_call(const std::filesystem::path& library, const std::filesystem::path& file) {
  const auto api = TRY(Api::open({.files = {{"onnxruntime", library}}, .packages = {}}));
  const auto model = TRY(files::MappedFile::open(file));
  const auto session = TRY(session_of(*api, model->bytes()));
  std::array<float, kElements> x{}, y{};
  const auto input = TRY(tensor_over(*api, x)), output = TRY(tensor_over(*api, y));
  const char *const input_name = "x", *const output_name = "y";
  const Value* const inputs = input.get();
  Value* results = output.get();
  std::vector<double> ns;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call)
      TRY(api->check((*api)[function::run](session.get(), nullptr, &input_name, &inputs, 1, &output_name, 1, &results)));
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls);
  }
  std::ranges::nth_element(ns, ns.begin() + kTurns / 2);
  return ns[kTurns / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_runtime_calls LIBRARY MODEL\n");
    return 2;
  }
  const auto ns = ns_of_call(argv[1], argv[2]);
  if (!ns) {
    fmt::print(stderr, "{}\n", ns.error()->text());
    return 1;
  }
  fmt::print("{}\n", nlohmann::json{{"ns", *ns}}.dump());
}
