// SPDX-License-Identifier: Apache-2.0
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::runtime {

namespace {

using protozero::pbf_writer;

// Field numbers are for ever: a number that is no longer written is never used again.
namespace kernel_blob_field {
enum : uint32_t { programs = 1, code = 2, weight_offset = 3, outer_sizes = 4 };
}
namespace code_section_field {
enum : uint32_t { target = 1, cpu_features = 2, bytes = 3, kernel_offset = 4 };
}

void write(pbf_writer w, const CodeSection& code) {
  w.add_uint32(code_section_field::target, code.target);
  w.add_string(code_section_field::cpu_features, code.cpu_features);
  w.add_bytes(code_section_field::bytes, reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
  for (const uint64_t offset : code.kernel_offsets) w.add_uint64(code_section_field::kernel_offset, offset);
}

CodeSection read_code_section(WireReader r) {
  CodeSection out;
  while (r.next()) switch (r.tag()) {
      case code_section_field::target: out.target = r.get_uint32(); break;
      case code_section_field::cpu_features: out.cpu_features = r.get_string(); break;
      case code_section_field::bytes: {
        const std::string text = r.get_string();
        const auto bytes = std::as_bytes(std::span(text));
        out.bytes.assign(bytes.begin(), bytes.end());
        break;
      }
      case code_section_field::kernel_offset: out.kernel_offsets.push_back(r.get_uint64()); break;
      default: r.skip();
    }
  return out;
}

/// The fields of an encoded blob. Its programs are decoded after all fields are read, since that needs `outer_sizes`.
struct DecodedBlob {
  KernelBlob blob;
  std::string programs;  ///< encoded
};

DecodedBlob read_kernel_blob(WireReader r) {
  DecodedBlob out;
  while (r.next()) switch (r.tag()) {
      case kernel_blob_field::programs: out.programs = r.get_string(); break;
      case kernel_blob_field::code: out.blob.code.push_back(read_code_section(r.get_message())); break;
      case kernel_blob_field::weight_offset: out.blob.weight_offsets.push_back(r.get_uint64()); break;
      case kernel_blob_field::outer_sizes: out.blob.outer_sizes = r.get_uint32(); break;
      default: r.skip();
    }
  return out;
}

Error damaged_blob(std::string what, std::string expected, std::string found) {
  return fail(Code::bad_file, std::string(kKernelBlobPlace), std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("build the engine again");
}

Result<void> check_blob_programs(const ProgramTable& table) {
  if (const size_t entries = entries_of(table).size(); entries != 1)
    return damaged_blob("a segment has one entry", "1", std::to_string(entries));
  if (!table.states.empty())
    return damaged_blob("the program of a segment has states", "a program without states", "state '" + table.states[0].name + "'");
  for (const NamedProgram& p : table.programs)
    if (!p.program.blobs.empty())
      return damaged_blob("the program of a segment runs segments itself", "kernels", "a segment of another device");
  return {};
}

}  // namespace

std::string encode(const KernelBlob& blob) {
  std::string bytes;
  pbf_writer w(bytes);
  w.add_string(kernel_blob_field::programs, encode(blob.programs));
  for (const CodeSection& code : blob.code) write(pbf_writer(w, kernel_blob_field::code), code);
  for (const uint64_t offset : blob.weight_offsets) w.add_uint64(kernel_blob_field::weight_offset, offset);
  w.add_uint32(kernel_blob_field::outer_sizes, blob.outer_sizes);
  return bytes;
}

Result<KernelBlob> decode_kernel_blob(std::string_view bytes) {
  DecodedBlob read = TRY(read_fields(bytes, kKernelBlobPlace, "the blob does not decode", read_kernel_blob));
  auto programs = decode_segment(read.programs, read.blob.outer_sizes);
  if (!programs) return std::move(programs).error().at(std::string(kKernelBlobPlace));
  read.blob.programs = *std::move(programs);
  TRY(check_blob_programs(read.blob.programs));
  for (const CodeSection& code : read.blob.code) TRY(check_code(read.blob.programs, code, kKernelBlobPlace));
  return std::move(read.blob);
}

}  // namespace tenon::runtime
