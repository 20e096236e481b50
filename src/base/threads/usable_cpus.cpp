// SPDX-License-Identifier: Apache-2.0
// Formats: cgroups(7), Documentation/admin-guide/cgroup-v2.rst and cgroup-v1 of the Linux kernel.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "base/checked.h"
#include "base/threads/cpu_set.h"
#include "base/threads/thread_pool.h"

namespace tenon::inline base {
namespace {

/// The first 4 KiB of a small file of /proc or /sys; empty where there is none.
std::string small_file(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  if (!file) return {};
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

/// CPUs that `quota` microseconds in each `period` allow; nullopt where there is no limit.
std::optional<int64_t> cpus_of(const std::string& quota, const std::string& period) {
  const int64_t q = std::atoll(quota.c_str()), p = std::atoll(period.c_str());
  if (q <= 0 || p <= 0) return std::nullopt;
  return ceil_div(q, p);
}

/// The tightest limit of the group and of all above it.
template <class Limit>
int64_t tightest(std::string group, Limit limit_of) {
  int64_t least = INT64_MAX;
  for (;;) {
    if (const auto limit = limit_of(group)) least = std::min(least, *limit);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

std::optional<int64_t> limit_v2(const std::string& group) {
  const std::string text = small_file("/sys/fs/cgroup" + group + "/cpu.max");
  const size_t blank = text.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  return cpus_of(text.substr(0, blank), text.substr(blank + 1));
}

std::optional<int64_t> limit_v1(const std::string& group) {
  for (const char* mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}) {
    const std::string base = mount + group;
    if (const auto limit = cpus_of(small_file(base + "/cpu.cfs_quota_us"), small_file(base + "/cpu.cfs_period_us"))) return limit;
  }
  return std::nullopt;
}

/// The group of this process: the line "0::GROUP" (version 2) or "N:...cpu...:GROUP" (version 1) of /proc/self/cgroup.
std::string group_of(const std::string& table, bool v2) {
  for (size_t begin = 0; begin < table.size();) {
    const size_t end = std::min(table.find('\n', begin), table.size());
    const std::string line = table.substr(begin, end - begin);
    begin = end + 1;
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (v2 ? controllers == ",," : controllers.find(",cpu,") != std::string::npos) {
      const std::string group = line.substr(second + 1);
      return group == "/" ? "" : group;
    }
  }
  return {};
}

}  // namespace

int usable_cpus() {
  const std::string table = small_file("/proc/self/cgroup");
  const int64_t quota = std::min(tightest(group_of(table, true), limit_v2), tightest(group_of(table, false), limit_v1));
  CpuSet mask;
  return static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(mask.read_thread_affinity() ? mask.count() : 1, quota)));
}

}  // namespace tenon::inline base
