// SPDX-License-Identifier: Apache-2.0
#include <protozero/pbf_writer.hpp>

#include "base/wire_reader.h"
#include "runtime/kernel_blob/kernel_blob.h"

namespace tenon::runtime {

namespace {

using protozero::pbf_writer;

// Field numbers are for ever: a number that is no longer written is never used again.
namespace kernel_blob_field {
enum : uint32_t { programs = 1, code = 2, weight = 3, sizes = 4 };
}
namespace code_section_field {
enum : uint32_t { target = 1, needs = 2, bytes = 3, entry = 4 };
}

void write(pbf_writer w, const CodeSection& code) {
  w.add_uint32(code_section_field::target, code.target);
  w.add_string(code_section_field::needs, code.needs);
  w.add_bytes(code_section_field::bytes, reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size());
  for (const uint64_t e : code.entries) w.add_uint64(code_section_field::entry, e);
}

CodeSection read_code_section(WireReader r) {
  CodeSection out;
  while (r.next()) switch (r.tag()) {
      case code_section_field::target: out.target = r.get_uint32(); break;
      case code_section_field::needs: out.needs = r.get_string(); break;
      case code_section_field::bytes: {
        const std::string text = r.get_string();
        const auto bytes = std::as_bytes(std::span(text));
        out.bytes.assign(bytes.begin(), bytes.end());
        break;
      }
      case code_section_field::entry: out.entries.push_back(r.get_uint64()); break;
      default: r.skip();
    }
  return out;
}

/// A blob, and the bytes of its programs.
struct ReadBlob {
  KernelBlob blob;
  std::string programs;
};

ReadBlob read_kernel_blob(WireReader r) {
  ReadBlob out;
  while (r.next()) switch (r.tag()) {
      case kernel_blob_field::programs: out.programs = r.get_string(); break;
      case kernel_blob_field::code: out.blob.code.push_back(read_code_section(r.get_message())); break;
      case kernel_blob_field::weight: out.blob.weights.push_back(r.get_uint64()); break;
      case kernel_blob_field::sizes: out.blob.sizes = r.get_uint32(); break;
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
  for (const uint64_t offset : blob.weights) w.add_uint64(kernel_blob_field::weight, offset);
  w.add_uint32(kernel_blob_field::sizes, blob.sizes);
  return bytes;
}

Result<KernelBlob> decode_kernel_blob(std::string_view bytes) {
  ReadBlob read = TRY(read_fields(bytes, kKernelBlobPlace, "the blob does not decode", read_kernel_blob));
  auto programs = decode_segment(read.programs, read.blob.sizes);
  if (!programs) return std::move(programs).error().at(std::string(kKernelBlobPlace));
  read.blob.programs = *std::move(programs);
  TRY(check_blob_programs(read.blob.programs));
  for (const CodeSection& code : read.blob.code) TRY(check_code(read.blob.programs, code, kKernelBlobPlace));
  return std::move(read.blob);
}

}  // namespace tenon::runtime
