// SPDX-License-Identifier: Apache-2.0
#include <future>
#include <thread>

#include "cli/plugin_kit/checks/checks.h"

namespace tenon::cli {

namespace {

constexpr int kThreads = 4, kRounds = 32;

/// One context, and what it is to give.
struct Context {
  std::unique_ptr<plugin::Object> attached;
  std::unique_ptr<PluginRun> run;
  std::vector<Tensor> operands, expected;
  std::string wrong;  ///< in a thread, which reports nothing itself

  void once(const PluginRunOptions& options = {}) {
    const auto done = run->run(options, &operands);
    if (!done) wrong = "it does not run: " + done.error()->what;
    else if (const std::string apart = difference(expected, done->tensors); !apart.empty()) wrong = apart;
    else if (!done->faults.empty()) wrong = done->faults[0];
  }
};

class Contexts {
 public:
  Contexts(Trial& trial, const PluginCase& at) : trial_(trial), at_(at), shared_(trial.object(at)) {}

  /// Whether the op takes the case.
  bool make(int count) {
    for (int k = 0; shared_ && k < count; ++k) {
      auto context = std::make_unique<Context>();
      auto attached = shared_->attach();
      if (!attached) {
        trial_.report(at_, "it does not attach", attached.error());
        return false;
      }
      context->attached = *std::move(attached);
      context->operands = trial_.other_operands(at_, static_cast<uint64_t>(k) + 2);
      const auto alone = trial_.object(at_);
      if (!alone) return false;
      PluginRun first(*alone, at_);
      if (!trial_.set_shapes(first, at_)) return false;
      auto expected = trial_.run_once(first, at_, {}, &context->operands);
      if (!expected) return false;
      context->expected = std::move(expected->tensors);
      context->run = std::make_unique<PluginRun>(context->attached ? *context->attached : *shared_, at_);
      if (!trial_.set_shapes(*context->run, at_)) return false;
      all_.push_back(std::move(context));
    }
    return shared_ != nullptr;
  }

  /// One runs from beginning to end while another waits in its parallel_for. A plugin that locks meanwhile makes the other wait: that is
  /// slow and no fault, so the waiting ends.
  void nested() {
    std::future<void> other;
    PluginRunOptions options;
    options.meanwhile = [&] {
      other = std::async(std::launch::async, [this] { all_[1]->once(); });
      other.wait_for(std::chrono::seconds(1));
    };
    all_[0]->once(options);
    if (other.valid()) other.wait();
    report("while another context runs");
  }

  void at_once() {
    std::vector<std::jthread> threads;
    for (const auto& context : all_)
      threads.emplace_back([&context] {
        for (int round = 0; round < kRounds && context->wrong.empty(); ++round) context->once();
      });
    threads.clear();
    report("with other contexts in other threads");
  }

  void in_pieces() {
    PluginRunOptions options;
    options.pieces = true;
    all_[0]->once(options);
    report("in pieces, the last one first");
  }

 private:
  void report(const std::string& when) {
    for (const auto& context : all_) {
      if (context->wrong.empty() || reported_) continue;
      trial_.report(at_, when + ": " + context->wrong);
      reported_ = true;
    }
  }

  Trial& trial_;
  const PluginCase& at_;
  std::shared_ptr<const plugin::Object> shared_;
  std::vector<std::unique_ptr<Context>> all_;
  bool reported_ = false;
};

}  // namespace

void check_contexts(Trial& trial) {
  if (trial.op().table.is_random) return;
  for (const PluginCase& at : trial.cases()) {
    Contexts contexts(trial, at);
    if (!contexts.make(kThreads)) continue;
    contexts.nested();
    contexts.at_once();
    contexts.in_pieces();
  }
}

}  // namespace tenon::cli
