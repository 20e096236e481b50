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
  for (const double rate : {m.f32_gflops, m.l2_bandwidth.one_core, m.l2_bandwidth.all_cores, m.l3_bandwidth.one_core,
                            m.l3_bandwidth.all_cores, m.memory_bandwidth.one_core, m.memory_bandwidth.all_cores})
    if (!is_rate(rate)) return false;
  const bool optional = std::isfinite(m.bf16_gflops) && m.bf16_gflops >= 0 && std::isfinite(m.int8_gflops) && m.int8_gflops >= 0;
  return optional && std::isfinite(m.shared_read_gbps) && m.shared_read_gbps >= 0 && std::isfinite(m.shared_write_gbps) &&
         m.shared_write_gbps >= 0 && std::isfinite(m.fork_join_ns) && m.fork_join_ns >= 0 && m.l2_bytes > 0 && m.l3_bytes > 0;
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
    words >> hash >> m.f32_gflops >> m.bf16_gflops >> m.int8_gflops >> m.l2_bandwidth.one_core >> m.l2_bandwidth.all_cores >>
        m.l3_bandwidth.one_core >> m.l3_bandwidth.all_cores >> m.memory_bandwidth.one_core >> m.memory_bandwidth.all_cores >>
        m.shared_read_gbps >> m.shared_write_gbps >> m.fork_join_ns >> m.threads >> m.l2_bytes >> m.l3_bytes;
    if (words && hash == key && m.threads == threads && is_valid(m)) out = m;
  }
  return out;
}

Result<void> write_machine(const std::filesystem::path& path, const codegen::Machine& m) {
  return append_line(
      path, fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", machine_key(m.threads), m.f32_gflops, m.bf16_gflops,
                        m.int8_gflops, m.l2_bandwidth.one_core, m.l2_bandwidth.all_cores, m.l3_bandwidth.one_core, m.l3_bandwidth.all_cores,
                        m.memory_bandwidth.one_core, m.memory_bandwidth.all_cores, m.shared_read_gbps, m.shared_write_gbps, m.fork_join_ns,
                        m.threads, m.l2_bytes, m.l3_bytes));
}

}  // namespace tenon::compiler
