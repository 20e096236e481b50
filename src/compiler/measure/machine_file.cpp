// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/machine_file.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "base/hash.h"
#include "base/version.h"
#include "compiler/measure/append_line.h"
#include "compiler/measure/environment_text.h"

namespace tenon::compiler {

namespace {

std::string machine_key(int threads) { return hash128(fmt::format("{}\n{}\n{}", kProducer, cpu_text(), threads)).text(); }

bool is_rate(double rate) { return std::isfinite(rate) && rate > 0; }

bool is_valid(const codegen::Machine& m) {
  for (const double rate : {m.f32, m.second.one, m.second.all, m.third.one, m.third.all, m.memory.one, m.memory.all})
    if (!is_rate(rate)) return false;
  const bool optional = std::isfinite(m.bf16) && m.bf16 >= 0 && std::isfinite(m.bytes) && m.bytes >= 0;
  return optional && std::isfinite(m.exchange) && m.exchange >= 0 && std::isfinite(m.take) && m.take >= 0 && std::isfinite(m.start_ns) &&
         m.start_ns >= 0 && m.second_bytes > 0 && m.third_bytes > 0;
}

}  // namespace

std::optional<codegen::Machine> read_machine(const std::filesystem::path& path, int threads) {
  const std::string key = machine_key(threads);
  std::optional<codegen::Machine> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string hash;
    codegen::Machine m;
    words >> hash >> m.f32 >> m.bf16 >> m.bytes >> m.second.one >> m.second.all >> m.third.one >> m.third.all >> m.memory.one >>
        m.memory.all >> m.exchange >> m.take >> m.start_ns >> m.threads >> m.second_bytes >> m.third_bytes;
    if (words && hash == key && m.threads == threads && is_valid(m)) out = m;
  }
  return out;
}

Result<void> write_machine(const std::filesystem::path& path, const codegen::Machine& m) {
  return append_line(path, fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", machine_key(m.threads), m.f32, m.bf16, m.bytes,
                                       m.second.one, m.second.all, m.third.one, m.third.all, m.memory.one, m.memory.all, m.exchange, m.take,
                                       m.start_ns, m.threads, m.second_bytes, m.third_bytes));
}

}  // namespace tenon::compiler
