// SPDX-License-Identifier: Apache-2.0
/// Element types and error codes.
#pragma once
#include <cstdint>
#include <string_view>

#define TENON_API __attribute__((visibility("default")))

namespace tenon::inline v1 {

/// Element types. The numbers are ONNX's TensorProto.DataType and are stored in engine files; but for the last three, which only
/// running values have: their elements are tensors (of a map: its keys and its values, or maps of a sequence of such).
enum class DType : uint8_t {
  none = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  map = 253,
  sequence = 254,
  optional = 255,
};
/// What a value is: a tensor, or what holds tensors, which may differ in shape; or a map from integers or texts to numbers, or several.
/// The numbers are stored in engine files.
enum class ValueKind : uint8_t { tensor = 0, sequence = 1, optional = 2, optional_sequence = 3, map = 4, sequence_of_maps = 5 };

/// "f32", "i64", "bool", ...: the names of the text form.
TENON_API std::string_view name_of(DType dtype);

/// What went wrong. The hundreds digit groups codes by who has to act; values are stable for ever.
enum class Code : uint16_t {
  // The model, a file or an input is wrong (exit code 1).
  bad_file = 100,        ///< not the format that it claims to be, damaged, or too short for what refers to it
  file_missing = 101,    ///< cannot be opened
  file_unsafe = 102,     ///< external data outside the model's folder, a link, not a regular file
  limit_exceeded = 103,  ///< a stated limit on bytes, nodes, rank, nesting, time
  size_overflow = 104,   ///< a size does not fit 63 bits
  bad_graph = 110,       ///< cycles, duplicate names, unknown values
  bad_attribute = 111,
  shape_mismatch = 112,  ///< sizes that do not fit, at inference or at run time
  dtype_mismatch = 113,
  rank_mismatch = 114,
  axis_out_of_range = 115,
  index_out_of_range = 116,
  bad_input = 120,     ///< an input, or a value that is read (config.json, hyperparameters) or computed, is not what it must be
  bad_rule = 130,      ///< a rule's text does not parse or breaks types
  write_failed = 140,  ///< disk full, no permission
  out_of_memory = 150,
  wrong_target = 151,  ///< engine made for another CPU, format or version
  cancelled = 160,
  deadline = 161,
  device_failed = 170,
  // The command line is wrong (exit code 2).
  bad_usage = 200,
  // Not there yet (exit code 3).
  not_supported = 300,
  // Our own bug (exit code 70).
  internal = 700,
};
/// "bad_input", ...
TENON_API std::string_view name_of(Code code);

}  // namespace tenon::inline v1
