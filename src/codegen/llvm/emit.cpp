// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit.h"

#include <execinfo.h>

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <csetjmp>
#include <exception>
#include <optional>
#include <thread>

#include "base/checked.h"
#include "base/exception_error.h"
#include "codegen/llvm/architecture.h"
#include "codegen/llvm/handlers.h"
#include "codegen/llvm/lower.h"
#include "codegen/llvm/object.h"

// LLVM's static constructors, where the linker has put them aside (cmake/llvm_constructors.ld); else none, and they have run.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern void (*const tenon_llvm_constructors_begin[])();
[[gnu::weak, gnu::visibility("hidden")]] extern void (*const tenon_llvm_constructors_end[])();
}

namespace tenon::codegen {
namespace machine {
namespace {

/// The LLVM modules to compile: some kernels each, and one of the subroutines that kernels call.
class Modules {
 public:
  explicit Modules(std::span<const TileKernel> kernels) : kernels_(kernels), calls_(subroutine_calls_of(kernels)) {}

  size_t count() const { return of_kernels() + (calls_.subroutines.empty() ? 0 : 1); }

  Result<void> fill(size_t number, llvm::Module& module, const Target& target) const {
    if (number == of_kernels()) {
      for (const Subroutine& s : calls_.subroutines) TRY(s.define(module, target));
      return {};
    }
    for (size_t k = number * size(); k < std::min(kernels_.size(), (number + 1) * size()); ++k) {
      TRY(verify(kernels_[k]));
      TRY(KernelLowering(kernels_[k], target, module, calls_.is_caller[k]).run(symbol(k)));
    }
    return {};
  }

  static std::string symbol(size_t kernel) { return "kernel" + std::to_string(kernel); }

 private:
  /// Kernels in a module, which share the set-up of LLVM's passes (some milliseconds): few, so that all threads have work. It depends on
  /// the number of kernels alone, so that the bytes do not depend on the number of threads.
  size_t size() const { return std::clamp<size_t>(kernels_.size() / 32, 4, 16); }
  size_t of_kernels() const { return (kernels_.size() + size() - 1) / size(); }

  std::span<const TileKernel> kernels_;
  SubroutineCalls calls_;
};

/// One module and the objects that LLVM needs to compile it. Members are destroyed from the last to the first.
struct Unit {
  llvm::LLVMContext context;
  llvm::Module module{"tenon", context};
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out{object};
  llvm::legacy::PassManager passes;
};

/// Compiles modules on one thread.
class Compiler {
 public:
  explicit Compiler(const Target& target) : target_(target) {}

  /// An object file of that module.
  Result<std::string> compile(const Modules& modules, size_t number) {
    auto unit = std::make_unique<Unit>();
    try {
      return compile(modules, number, *unit);
    } catch (...) {
      // LLVM is built without exceptions: one that passes through leaves its objects half made, and they must not be touched again.
      (void)unit.release();
      (void)machine_.release();
      throw;
    }
  }

 private:
  Result<std::string> compile(const Modules& modules, size_t number, Unit& unit) {
    if (!machine_) machine_ = TRY(target_machine(target_));
    unit.module.setTargetTriple(llvm::Triple(llvm::StringRef(target_.triple)));
    unit.module.setDataLayout(machine_->createDataLayout());
    TRY(modules.fill(number, unit.module, target_));
    TRY(check(unit.module));
    if (machine_->addPassesToEmitFile(unit.passes, unit.out, nullptr, llvm::CodeGenFileType::ObjectFile, true))
      return fail(Code::internal, "emit", "LLVM cannot emit objects");
    run_passes(unit);
    return std::string(unit.object.begin(), unit.object.end());
  }

  /// Throws std::bad_alloc.
  static void run_passes(Unit& unit) {
    std::jmp_buf no_memory;
    const MemoryEscape escape(no_memory);
    if (setjmp(no_memory) != 0) throw std::bad_alloc();
    unit.passes.run(unit.module);
  }

  static Result<void> check(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module, &out)) return fail(Code::internal, "emit", "lowering made bad LLVM IR").found(text);
    return {};
  }

  const Target& target_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

/// Registers all architectures and passes. LLVM does that once and under locks, which an exception would leave locked for ever. So after a
/// lack of memory here, this process cannot generate code; later it does no harm.
bool initialize() {
  void* frame = nullptr;
  (void)backtrace(&frame, 1);  // loads the unwinder, which exceptions need later
  for (auto construct = tenon_llvm_constructors_begin; construct != tenon_llvm_constructors_end; ++construct) (*construct)();
  for (const Architecture* a : all_architectures()) a->initialize();
  llvm::initializeCodeGen(*llvm::PassRegistry::getPassRegistry());
  return true;
}

Result<void> start_llvm() {
  static std::atomic<bool> failed = false;
  if (failed)
    return fail(Code::out_of_memory, "code generation", "memory had run out when LLVM was started")
        .expected("a process with enough memory from the start")
        .found("one without")
        .advice("start the process again, with more memory");
  try {
    static const bool started = initialize();
    (void)started;
  } catch (...) {
    failed = true;
    return exception_error("code generation");
  }
  return {};
}

/// The first exception of all threads.
struct Failure {
  std::atomic<bool> has_failed = false;
  std::exception_ptr first;

  void store_current() {
    if (!has_failed.exchange(true)) first = std::current_exception();
  }
  /// After all threads have ended.
  Result<void> result() const {
    if (!first) return {};
    try {
      std::rethrow_exception(first);
    } catch (...) { return exception_error("code generation"); }
  }
};

/// Runs `work` on this thread and up to count - 1 others: fewer where the system has no more.
template <class Work>
void on_threads(int64_t count, Work work) {
  std::vector<std::thread> workers;
  workers.reserve(static_cast<size_t>(std::max<int64_t>(0, count - 1)));
  try {
    while (static_cast<int64_t>(workers.size()) < count - 1) workers.emplace_back(work);
  } catch (const std::exception&) {
    // The threads that started do all the work.
  }
  work();
  for (std::thread& t : workers) t.join();
}

}  // namespace
}  // namespace machine

Result<MachineCode> emit(std::span<const TileKernel> kernels, const Target& target, int threads) {
  const machine::Modules modules(kernels);
  std::vector<std::optional<Result<std::string>>> made(modules.count());
  std::atomic<size_t> next = 0;
  machine::Failure failure;
  const machine::ErrorHandlers handlers;
  TRY(machine::start_llvm());
  machine::on_threads(std::min<int64_t>(threads, static_cast<int64_t>(made.size())), [&] {
    try {
      machine::Compiler compiler(target);
      for (size_t i = next++; i < made.size() && !failure.has_failed; i = next++) made[i] = compiler.compile(modules, i);
    } catch (...) { failure.store_current(); }
  });
  TRY(failure.result());
  std::vector<std::string> objects;
  for (auto& object : made) objects.push_back(TRY(std::move(*object)));
  std::vector<std::string> symbols;
  for (size_t k = 0; k < kernels.size(); ++k) symbols.push_back(machine::Modules::symbol(k));
  machine::FlatCode flat = TRY(machine::flatten(objects, symbols));
  MachineCode code{.target = &target, .bytes = std::move(flat.bytes), .entries = {}};
  for (size_t k = 0; k < kernels.size(); ++k) code.entries.push_back({kernels[k].name, flat.entries[k]});
  return code;
}

}  // namespace tenon::codegen
