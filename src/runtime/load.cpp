// SPDX-License-Identifier: Apache-2.0
#include "runtime/load.h"

#include <cstring>

#include "engine/reader.h"
#include "files/mapped_file.h"

namespace tenon::runtime {

namespace {

using engine::SectionType;

std::string_view text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// The code section that this CPU runs; the widest one where there are several.
Result<CodeTarget> choose_code(const engine::Reader& reader, const CpuFeatures& cpu, const std::string& place) {
  const bool avx2 = reader.find(SectionType::code, static_cast<uint32_t>(CodeTarget::x86_avx2)).has_value();
  const bool avx512 = reader.find(SectionType::code, static_cast<uint32_t>(CodeTarget::x86_avx512)).has_value();
  if (!avx2 && !avx512)
    return fail(Code::not_supported, place, "this engine holds no native code (it was built with --portable)")
        .expected("a code section")
        .found("none that this version knows")
        .advice("load it with the full library, which compiles it on load");
  if (avx512 && cpu.runs_avx512()) return CodeTarget::x86_avx512;
  if (avx2 && cpu.runs_avx2()) return CodeTarget::x86_avx2;
  return fail(Code::wrong_target, place, "this CPU cannot run the engine's code")
      .expected(avx2 ? "AVX2, FMA, F16C, BMI2" : "AVX2, FMA, F16C, BMI2, AVX-512 (F, BW, VL, DQ, CD)")
      .found(cpu.text())
      .advice("build the engine on this machine, or with --portable");
}

Result<std::vector<uint64_t>> entries_of(std::span<const std::byte> bytes, const std::string& place) {
  if (bytes.size() % sizeof(uint64_t) != 0)
    return fail(Code::bad_file, place, "the kernel table is cut off")
        .expected("8 bytes a kernel")
        .found(std::to_string(bytes.size()) + " bytes");
  std::vector<uint64_t> entries(bytes.size() / sizeof(uint64_t));
  std::memcpy(entries.data(), bytes.data(), bytes.size());
  return entries;
}

}  // namespace

Result<std::shared_ptr<Engine>> load_engine(const std::filesystem::path& path, const LoadOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  const std::string place = path.string();
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, place));
  if (options.verify) TRY(reader.verify_all());
  const CodeTarget target = TRY(choose_code(reader, options.cpu, place));
  EngineParts parts;
  parts.program = TRY(decode(text(TRY(reader.require(SectionType::program)))));
  const auto code = TRY(reader.require(SectionType::code, static_cast<uint32_t>(target)));
  parts.code.assign(code.begin(), code.end());
  parts.entries = TRY(entries_of(TRY(reader.require(SectionType::kernels, static_cast<uint32_t>(target))), place));
  parts.weights = TRY(reader.require(SectionType::weights));
  parts.keeper = file;
  parts.manifest = text(TRY(reader.require(SectionType::manifest)));
  return Engine::create(std::move(parts), options.opaque);
}

}  // namespace tenon::runtime
