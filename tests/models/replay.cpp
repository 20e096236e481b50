// SPDX-License-Identifier: Apache-2.0
// Writes what the compiler makes of each model in tests/models, as text: `./dev replay` compares it before and after a change.
// replay FOLDER [MODEL...]: FOLDER/MODEL.optN.ISA.txt has the rewritten graph, the plan, the program's steps and the tile IR of all
// kernels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "base/hash.h"
#include "compiler/backends.h"
#include "compiler/lower.h"
#include "files/atomic_write.h"
#include "import/onnx_import.h"
#include "ir/text.h"
#include "partition/partition.h"
#include "passes/pipeline.h"
#include "program/build.h"
#include "weights.h"

namespace tenon::tests {
namespace {

using codegen::Target;

void add_steps(const runtime::ProgramTable& programs, uint32_t number, const std::string& indent, std::string& out) {
  const runtime::Program& program = programs[number];
  out += fmt::format("{}{} size lines, {} at the door, {} buffers\n", indent, program.sizes.size(), program.input_lines,
                     program.buffers.size());
  uint32_t bodies = 0;
  for (const runtime::Step& s : program.steps) {
    const auto* const segment = runtime::as<runtime::SegmentStep>(s);
    const auto* const check = runtime::as<runtime::CheckStep>(s);
    const auto* const kernel = runtime::as<runtime::KernelStep>(s);
    const auto own = static_cast<uint32_t>(runtime::bodies_of(s).size());
    // Bodies are counted by program: their rows in the table follow from other programs.
    const uint32_t code = kernel ? kernel->kernel : segment ? segment->blob : check ? check->from_end : own > 0 ? bodies : 0;
    out += fmt::format("{}{} {} code {} buffers [{}] results [{}] sizes [{}]", indent, s.label, s.kind.index() + 1, code,
                       fmt::join(s.buffers, ","), fmt::join(s.results, ","), fmt::join(s.sizes, ","));
    if (kernel) out += fmt::format(" tasks {} grain {} scratch {}", kernel->tasks, kernel->grain, kernel->scratch_bytes);
    out += fmt::format(" lines {}\n", s.lines);
    bodies += own;
  }
  for (const runtime::Blob& blob : program.blobs) out += indent + "on " + blob.device + ": " + blob.bytes + "\n";
  for (const runtime::Step& s : program.steps)
    for (const uint64_t b : runtime::bodies_of(s)) add_steps(programs, static_cast<uint32_t>(b), indent + "  ", out);
}

Result<std::string> text_of(std::unique_ptr<ir::Graph> graph, int opt, const Target& target) {
  passes::Options rewriting;
  rewriting.level = opt;
  TRY(passes::optimise(*graph, rewriting));
  const backend::Backends backends = TRY(compiler::backends_named());
  TRY(partition::prepare(*graph, backends));
  ir::TextConstants constants;
  std::string out = ir::print(*graph, &constants);
  backend::Options options{.planning = {}, .target = &target};
  options.planning.fuse = options.planning.channels_last = opt > 0;
  const partition::Roles roles(backends, 1);
  const partition::Partition partition = TRY(partition::partition(*graph, roles, {}));
  auto lowered = TRY(compiler::lower(*graph, partition, roles, options));
  out += "\nplan\n" + codegen::text_of(lowered.kernels.plan);
  const program::LinkedPrograms built = TRY(program::build(std::move(lowered)));
  out += fmt::format("\nprogram {} of {} bytes of weights\n", hash128(runtime::encode(built.programs)).text(), built.programs.weight_bytes);
  add_steps(built.programs, 0, "", out);
  for (const codegen::TileKernel& kernel : built.kernels) out += "\n" + codegen::text_of(kernel);
  return out;
}

Result<void> replay(const std::filesystem::path& model, const std::filesystem::path& folder) {
  TRY(write_weights(model, folder));
  import::ImportOptions options;
  options.external_data_dir = folder;
  const auto imported = TRY(import::import_onnx(model, options));
  for (int opt : {0, 3})
    for (const Target* target : codegen::all_targets()) {
      const std::string text = TRY(text_of(imported.graph->clone(), opt, *target));
      const auto file =
          folder / fmt::format("{}.opt{}.{}.txt", model.stem().string(), opt, target->name.substr(target->name.find('_') + 1));
      TRY(files::write_file(file, text));
    }
  return {};
}

int replay_all(const std::filesystem::path& folder, std::span<char*> wanted) {
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_TEST_DATA))
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  std::ranges::sort(models);
  std::filesystem::create_directories(folder);
  int bad = 0;
  for (const auto& model : models) {
    if (!wanted.empty() && std::ranges::none_of(wanted, [&](const char* w) { return model.stem() == w; })) continue;
    if (auto done = replay(model, folder); !done) {
      fmt::print(stderr, "{}: {}\n", model.string(), done.error().text());
      bad = 1;
    }
  }
  std::filesystem::remove(folder / "weights.bin");
  return bad;
}

}  // namespace
}  // namespace tenon::tests

int main(int count, char** words) {
  if (count < 2) return 2;
  return tenon::tests::replay_all(words[1], std::span(words + 2, static_cast<size_t>(count - 2)));
}
