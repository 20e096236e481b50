// SPDX-License-Identifier: Apache-2.0
#include "runtime/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/reader.h"
#include "files/mapped_file.h"

namespace tenon::runtime {

namespace {

using engine::SectionType;

std::string_view text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// The target of a section of an engine of version 0.1.0, which does not record the CPU features that it needs.
CodeTarget implied_target(uint32_t tag) {
  if (tag == 1) return {tag, "AVX2", "avx2 fma f16c bmi2"};
  if (tag == 2) return {tag, "AVX-512", "avx2 fma f16c bmi2 avx512f avx512bw avx512vl avx512dq avx512cd"};
  return {tag, fmt::format("target {}", tag), "what a newer version of Tenon supports"};
}

CodeTarget target_of(const engine::Reader& reader, uint32_t tag) {
  const auto recorded = reader.find(SectionType::target, tag);
  if (!recorded) return implied_target(tag);
  const std::string_view line = text(*recorded);
  const size_t end = std::min(line.find('\n'), line.size());
  return {tag, std::string(line.substr(0, end)), std::string(line.substr(std::min(end + 1, line.size())))};
}

/// The code section for this CPU; of several that it can run, the one that needs the most CPU features.
Result<CodeTarget> choose_code(const engine::Reader& reader, const CpuFeatures& cpu, const std::string& place) {
  const std::vector<CodeTarget> targets = code_targets(reader);
  if (targets.empty())
    return fail(Code::not_supported, place, "this engine holds no native code (it was built with --portable)")
        .expected("a code section")
        .found("none")
        .advice("load it with the full library, which compiles it on load");
  const auto needs_fewer_features = [](const CodeTarget& a, const CodeTarget& b) {
    return feature_count(a.cpu_features) < feature_count(b.cpu_features);
  };
  const CodeTarget* best = nullptr;
  for (const CodeTarget& t : targets)
    if (cpu.has_all(t.cpu_features) && (!best || needs_fewer_features(*best, t))) best = &t;
  if (best) return *best;
  return fail(Code::wrong_target, place, "this CPU cannot run the engine's code")
      .expected(std::ranges::min_element(targets, needs_fewer_features)->cpu_features)
      .found(cpu.text())
      .advice("build the engine on this machine, or with --portable");
}

Result<std::vector<uint64_t>> kernel_offsets_of(std::span<const std::byte> bytes, const std::string& place) {
  if (bytes.size() % sizeof(uint64_t) != 0)
    return fail(Code::bad_file, place, "the kernel table is cut off")
        .expected("8 bytes a kernel")
        .found(std::to_string(bytes.size()) + " bytes");
  std::vector<uint64_t> offsets(bytes.size() / sizeof(uint64_t));
  std::memcpy(offsets.data(), bytes.data(), bytes.size());
  return offsets;
}

}  // namespace

std::vector<CodeTarget> code_targets(const engine::Reader& reader) {
  std::vector<CodeTarget> out;
  for (const engine::Section& s : reader.sections())
    if (s.type == SectionType::code) out.push_back(target_of(reader, s.tag));
  return out;
}

Result<ProgramTable> read_programs(const engine::Reader& reader) {
  if (const auto nested = reader.find(SectionType::program)) return decode_nested(text(*nested));
  return decode(text(TRY(reader.require(SectionType::programs))));
}

Result<std::shared_ptr<Engine>> load_engine(const std::filesystem::path& path, const LoadOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  const std::string place = path.string();
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, place));
  if (options.verify) TRY(reader.verify_all());
  CodeTarget target = TRY(choose_code(reader, options.cpu, place));
  EngineParts parts;
  parts.programs = TRY(read_programs(reader));
  const auto code = TRY(reader.require(SectionType::code, target.tag));
  parts.code.target = target.tag;
  parts.code.cpu_features = std::move(target.cpu_features);
  parts.code.bytes.assign(code.begin(), code.end());
  parts.code.kernel_offsets = TRY(kernel_offsets_of(TRY(reader.require(SectionType::kernels, target.tag)), place));
  parts.weights = TRY(reader.require(SectionType::weights));
  parts.keeper = file;
  parts.manifest = text(TRY(reader.require(SectionType::manifest)));
  return Engine::create(std::move(parts), options.devices);
}

}  // namespace tenon::runtime
