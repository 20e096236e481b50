// SPDX-License-Identifier: Apache-2.0
#include "behaviour.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>

namespace tenon::tests {

namespace {

using Deed = FarBehaviour::Deed;

constexpr std::pair<std::string_view, Deed> kDeeds[] = {
    {"answers", Deed::answers}, {"fails", Deed::fails}, {"crashes", Deed::crashes}, {"leaves", Deed::leaves}, {"hangs", Deed::hangs},
    {"shape", Deed::shape},     {"dtype", Deed::dtype}, {"number", Deed::number},   {"count", Deed::count},
};
constexpr std::string_view kCalls[] = {"library", "supports", "compile", "open", "make", "run"};

Error no_behaviour(const std::string& word) { return fail(Code::bad_usage, "TENON_FAR", "far knows nothing of this").found(word); }

Result<void> read(FarBehaviour& out, const std::string& key, const std::string& value) {
  const std::pair<std::string_view, double*> numbers[] = {{"launch", &out.overheads.launch_ns},
                                                          {"copy", &out.overheads.copy_ns},
                                                          {"copy_per_byte", &out.overheads.copy_ns_per_byte},
                                                          {"faster", &out.faster}};
  for (const auto& [name, number] : numbers)
    if (key == name) return (*number = std::stod(value)), Result<void>();
  if (key == "refuses") {
    std::istringstream ops(value);
    for (std::string op; std::getline(ops, op, ',');) out.refuses.insert(op);
    return {};
  }
  for (const auto& [name, deed] : kDeeds)
    if (value == name && std::ranges::find(kCalls, key) != std::end(kCalls)) return (out.at[key] = deed), Result<void>();
  return no_behaviour(key + "=" + value);
}

}  // namespace

Result<FarBehaviour> FarBehaviour::parse(std::string_view text) {
  FarBehaviour out;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == word.npos) return no_behaviour(word);
    TRY(read(out, word.substr(0, equals), word.substr(equals + 1)));
  }
  return out;
}

FarBehaviour FarBehaviour::of_environment() {
  const char* text = std::getenv("TENON_FAR");
  auto out = parse(text ? text : "");
  if (out) return *std::move(out);
  fmt::print(stderr, "{}\n", out.error().text());
  std::exit(2);
}

Result<Deed> FarBehaviour::act(std::string_view call) const {
  const auto report = at.find(call);
  const Deed deed = report == at.end() ? Deed::answers : report->second;
  switch (deed) {
    case Deed::fails: return fail(Code::device_failed, "", fmt::format("far was told to fail ({})", call));
    case Deed::crashes: std::raise(SIGSEGV); break;
    case Deed::leaves: _exit(0);
    case Deed::hangs:
      while (true) pause();
    default: break;
  }
  return deed;
}

}  // namespace tenon::tests
