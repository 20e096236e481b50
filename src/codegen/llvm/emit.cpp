// SPDX-License-Identifier: Apache-2.0
#include "codegen/emit.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <optional>
#include <thread>

#include "base/checked.h"
#include "codegen/llvm/lower.h"
#include "codegen/llvm/object.h"

namespace tenon::codegen {
namespace machine {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";
/// Kernels a module: they share the set-up of LLVM's passes (about 0.5 ms). Fixed, so that bytes never depend on the number of threads.
constexpr size_t kChunk = 4;

/// What the ISA means, spelt out, and what Target::host() asks for: a named CPU only tunes, it adds no instruction.
std::string features_of(const Target& target) {
  std::string features = "+avx2,+fma,+f16c,+bmi2";
  if (target.isa == Target::Isa::avx512) features += ",+evex512,+avx512f,+avx512bw,+avx512vl,+avx512dq,+avx512cd,-prefer-256-bit";
  return features;
}

/// The CPU whose scheduling model is used; chosen by ISA and not by host, so that an engine's bytes follow from its target alone.
const char* tuning_of(const Target& target) { return target.isa == Target::Isa::avx512 ? "znver4" : "znver3"; }

llvm::TargetOptions options() {
  llvm::TargetOptions o;
  o.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return o;
}

/// What one thread needs to compile kernel after kernel.
class Compiler {
 public:
  explicit Compiler(const Target& target) : target_(target) {
    std::string error;
    const llvm::Triple triple(kTriple);
    const llvm::Target* registered = llvm::TargetRegistry::lookupTarget(triple, error);
    if (!registered) return;
    machine_.reset(registered->createTargetMachine(triple, "x86-64", features_of(target), options(), llvm::Reloc::PIC_,
                                                   llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  }

  Result<Flat> compile(std::span<const TileKernel> kernels) {
    if (!machine_) return fail(Code::internal, "emit", "LLVM has no X86 target");
    llvm::LLVMContext context;
    llvm::Module module("tenon", context);
    module.setTargetTriple(llvm::Triple(kTriple));
    module.setDataLayout(machine_->createDataLayout());
    std::vector<std::string> symbols;
    for (const TileKernel& kernel : kernels) {
      TRY(verify(kernel));
      symbols.push_back("kernel" + std::to_string(symbols.size()));
      TRY(Lower(kernel, target_, module).run(symbols.back()));
      module.getFunction(symbols.back())->addFnAttr("tune-cpu", tuning_of(target_));
    }
    TRY(check(module));
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream out(object);
    llvm::legacy::PassManager passes;
    if (machine_->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile, true))
      return fail(Code::internal, "emit", "LLVM cannot emit objects");
    passes.run(module);
    return flatten({object.data(), object.size()}, symbols);
  }

 private:
  static Result<void> check(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module, &out)) return fail(Code::internal, "emit", "lowering made bad LLVM IR").found(text);
    return {};
  }

  const Target& target_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

void start_llvm() {
  static const bool started = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)started;
}

}  // namespace
}  // namespace machine

Result<Target> Target::host() {
  __builtin_cpu_init();
  const bool v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  if (!v3) return fail(Code::wrong_target, "this machine", "the CPU cannot run generated code").expected("AVX2, FMA, F16C and BMI2");
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
  return Target{v4 ? Isa::avx512 : Isa::avx2};
}

Result<MachineCode> emit(std::span<const TileKernel> kernels, const Target& target, int threads) {
  machine::start_llvm();
  const size_t chunks = (kernels.size() + machine::kChunk - 1) / machine::kChunk;
  auto chunk = [&](size_t i) {
    return kernels.subspan(i * machine::kChunk, std::min(machine::kChunk, kernels.size() - i * machine::kChunk));
  };
  std::vector<std::optional<Result<machine::Flat>>> made(chunks);
  std::atomic<size_t> next = 0;
  auto work = [&] {
    machine::Compiler compiler(target);
    for (size_t i = next++; i < chunks; i = next++) made[i] = compiler.compile(chunk(i));
  };
  std::vector<std::thread> team;
  for (int64_t t = 1; t < std::min<int64_t>(threads, static_cast<int64_t>(chunks)); ++t) team.emplace_back(work);
  work();
  for (std::thread& t : team) t.join();
  MachineCode code;
  for (size_t i = 0; i < chunks; ++i) {
    const machine::Flat flat = TRY(std::move(*made[i]));
    for (size_t k = 0; k < flat.entries.size(); ++k) code.entries.push_back({chunk(i)[k].name, code.bytes.size() + flat.entries[k]});
    code.bytes.insert(code.bytes.end(), flat.bytes.begin(), flat.bytes.end());
  }
  return code;
}

}  // namespace tenon::codegen
