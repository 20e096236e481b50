// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/serve.h"

#include <fmt/format.h>

#include <charconv>
#include <istream>
#include <ostream>

#include "files/npz.h"

namespace tenon::cli {
namespace {

std::string numbers(std::string_view word, const std::vector<double>& values) {
  std::string line(word);
  for (const double v : values) line += fmt::format(" {:.6f}", v);
  return line;
}

Result<int> count_in(const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc{} && end == text.data() + text.size() && count > 0) return count;
  return fail(Code::bad_usage, "--serve", "this many runs cannot be").expected("a number from 1 on").found(text);
}

Result<std::string> write_outputs(const MeasuredEngine& engine, const std::string& file) {
  files::NamedTensors named;
  for (const Tensor& each : TRY(engine.outputs())) named.emplace_back(fmt::format("arr_{}", named.size()), each);
  TRY(files::write_npz(file, named));
  return "written";
}

Result<std::string> answer(const MeasuredEngine& engine, const std::string& line) {
  const size_t space = line.find(' ');
  const std::string command = line.substr(0, space), argument = space == std::string::npos ? "" : line.substr(space + 1);
  if (command == "run" || command == "cold") return numbers("times", TRY(engine.run(TRY(count_in(argument)), command == "cold")));
  if (command == "outputs") return write_outputs(engine, argument);
  if (command == "work") return numbers("work", engine.work);
  if (command == "limits") return numbers("limits", engine.limits());
  return fail(Code::bad_usage, "--serve", "there is no such command").expected("run, cold, outputs, work or limits").found(command);
}

}  // namespace

Result<void> serve(const MeasuredEngine& engine, std::istream& in, std::ostream& out) {
  out << "ready " << engine.ready << std::endl;
  for (std::string line; std::getline(in, line);) out << TRY(answer(engine, line)) << std::endl;
  return {};
}

}  // namespace tenon::cli
