// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/isolate.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <thread>

#include "rewrite/driver/run_progress.h"

namespace tenon::rewrite {

void RunProgress::enter(uint32_t index, const ir::Graph& graph, ir::NodeId at) {
  const ir::Node& n = graph.node(at);
  size_t used = 0;
  for (const std::string_view part :
       {std::string_view("node '"), std::string_view(n.name), std::string_view("' ("), std::string_view(n.op->name), std::string_view(")")})
    used += part.copy(node.data() + used, node.size() - 1 - used);
  node[used] = 0;
  rule.store(index, std::memory_order_relaxed);
  steps.fetch_add(1, std::memory_order_release);
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOutOfMemory = 77;  ///< exit code of a child whose allocation failed

/// The memory that parent and child share.
struct SharedPage {
  RunProgress progress;
  std::atomic<bool> done{false};  ///< the child has run all rules; where it exits without it, the last rule is faulty
  std::atomic<int> failed{0};     ///< the Code of the error that `rewrite` returned; 0: none
  std::array<char, 1000> error{};
};

struct Unmap {
  void operator()(SharedPage* page) const { munmap(page, sizeof(SharedPage)); }
};
using SharedPagePtr = std::unique_ptr<SharedPage, Unmap>;

SharedPagePtr make_page() {
  void* at = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return SharedPagePtr(at == MAP_FAILED ? nullptr : new (at) SharedPage);
}

int64_t address_space() {
  long pages = 0;
  if (FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return int64_t{pages} * sysconf(_SC_PAGESIZE);
}

void set_limit(__rlimit_resource which, int64_t value) {
  rlimit limit{};
  if (getrlimit(which, &limit) != 0) return;
  limit.rlim_cur = std::min(static_cast<rlim_t>(value), limit.rlim_max);
  setrlimit(which, &limit);
}

/// All that the child process does.
[[noreturn]] void run_child(ir::Graph& graph, const RuleSet& rules, Options options, const ChildLimits& limits, SharedPage& page) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_limit(RLIMIT_CORE, 0);
  if (const int64_t now = address_space(); now > 0) set_limit(RLIMIT_AS, now + limits.extra_memory);
  // A rule that could catch bad_alloc would be tried again in the parent, which has no such limit.
  std::set_new_handler([] { _exit(kOutOfMemory); });
  options.progress = &page.progress;
  options.applied = nullptr;
  if (options.check) {
    options.check = [&page, check = std::move(options.check)](const Proposal& p) {
      page.progress.checking.store(true);
      auto answer = check(p);
      page.progress.steps.fetch_add(1);
      page.progress.checking.store(false);
      return answer;
    };
  }
  const auto statistics = rewrite(graph, rules, options);
  if (!statistics) {
    std::strncpy(page.error.data(), statistics.error()->what.c_str(), page.error.size() - 1);
    page.failed.store(static_cast<int>(statistics.error().code()));
  }
  page.done.store(true);
  _exit(0);
}

/// How the child process ended.
struct ChildExit {
  int status = 0;  ///< of waitpid
  bool timed_out = false, cancelled = false;
};

/// Waits for the child, and kills it where one attempt takes too long.
ChildExit wait_for_child(pid_t child, const SharedPage& page, const Options& options, const ChildLimits& limits) {
  ChildExit end;
  uint64_t steps = 0;
  auto moved = Clock::now();
  for (auto nap = std::chrono::microseconds(200);; nap = std::min(nap * 2, std::chrono::microseconds(5000))) {
    const pid_t ended = waitpid(child, &end.status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return end;
    const auto now = Clock::now();
    if (const uint64_t seen = page.progress.steps.load(); seen != steps || page.progress.checking.load() || seen == 0) {
      steps = seen;
      moved = now;
    }
    end.timed_out = now - moved > limits.attempt_timeout;
    end.cancelled = options.cancelled && options.cancelled();
    if (end.timed_out || end.cancelled) {
      kill(child, SIGKILL);
      waitpid(child, &end.status, 0);
      return end;
    }
    std::this_thread::sleep_for(nap);
  }
}

std::string failure_text(const ChildExit& end, const ChildLimits& limits) {
  if (end.timed_out) return fmt::format("did not return within {:.1f} s", std::chrono::duration<double>(limits.attempt_timeout).count());
  if (WIFSIGNALED(end.status)) return fmt::format("crashed (signal {}: {})", WTERMSIG(end.status), strsignal(WTERMSIG(end.status)));
  if (WEXITSTATUS(end.status) == kOutOfMemory) return fmt::format("ran out of memory (over {} MiB)", limits.extra_memory >> 20);
  return fmt::format("ended the process (exit code {})", WEXITSTATUS(end.status));
}

/// One run in a child process. nullopt: it ended normally.
Result<std::optional<FaultyRule>> run_in_child(ir::Graph& graph, const RuleSet& rules, const Options& options, const ChildLimits& limits) {
  const SharedPagePtr page = make_page();
  if (!page) return fail(Code::out_of_memory, "", "no memory to share with a child process");
  const pid_t child = fork();
  if (child < 0) return fail(Code::not_supported, "", "the system does not let this process fork");
  if (child == 0) run_child(graph, rules, options, limits, *page);
  const ChildExit end = wait_for_child(child, *page, options, limits);
  if (end.cancelled) return fail(Code::cancelled, "", "rewriting was cancelled");
  if (page->failed.load()) return fail(static_cast<Code>(page->failed.load()), "", page->error.data());
  if (page->done.load()) return std::nullopt;
  const uint32_t rule = page->progress.rule.load();
  if (rule >= rules.size())
    return fail(Code::internal, "", "rewriting in a child process " + failure_text(end, limits) + ", outside of every rule");
  return FaultyRule{rule, rules[rule].name, page->progress.node.data(), failure_text(end, limits)};
}

}  // namespace

Result<std::vector<FaultyRule>> find_faulty_rules(ir::Graph& graph, const RuleSet& rules, const Options& options,
                                                  const ChildLimits& limits) {
  std::vector<FaultyRule> out;
  Options without = options;
  for (size_t round = 0; round <= rules.size(); ++round) {
    auto faulty = TRY(run_in_child(graph, rules, without, limits));
    if (!faulty) return out;
    without.without.insert(faulty->name);
    out.push_back(std::move(*faulty));
  }
  return fail(Code::internal, "", "a rule that was left out took its process down");
}

Result<Statistics> rewrite_without_faulty_rules(ir::Graph& graph, const RuleSet& rules, const Options& options, const ChildLimits& limits) {
  const std::vector<FaultyRule> faulty = TRY(find_faulty_rules(graph, rules, options, limits));
  Options safe = options;
  for (const FaultyRule& g : faulty) safe.without.insert(g.name);
  Statistics statistics = TRY(rewrite(graph, rules, safe));
  for (const FaultyRule& g : faulty)
    statistics.reports.push_back(fmt::format("rule {} was left out: it {}, at {}", g.name, g.failure, g.node));
  return statistics;
}

}  // namespace tenon::rewrite
