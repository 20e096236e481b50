// SPDX-License-Identifier: Apache-2.0
#include "backends/openvino/device/api.h"

#include <charconv>

namespace tenon::backends::openvino {

namespace {

constexpr runtime::LibraryName kLibrary{
    .backend = "openvino", .package = "openvino", .folder = "openvino/libs", .file = "libopenvino_c.so", .soname = "libopenvino_c.so"};
constexpr const char* kPlace = "backend 'openvino'";
constexpr int kOldest = 2026;  ///< earlier ones count element types otherwise

Error not_openvino(const runtime::Library& library, const char* missing) {
  return fail(Code::bad_file, kPlace, "this library is no OpenVINO")
      .expected(std::string("a library with ") + missing)
      .found(library.file.string())
      .advice("give libopenvino_c.so of the Python package openvino, or of its release");
}

}  // namespace

Result<void> Api::bind(const runtime::Library& library) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    if (!function && !missing) missing = name;
  };
#define TENON_BIND(name) find(functions_.name, #name)
  TENON_BIND(ov_get_openvino_version);
  TENON_BIND(ov_version_free);
  TENON_BIND(ov_get_last_err_msg);
  TENON_BIND(ov_free);
  TENON_BIND(ov_core_create);
  TENON_BIND(ov_core_free);
  TENON_BIND(ov_core_read_model_from_memory_buffer);
  TENON_BIND(ov_core_compile_model);
  TENON_BIND(ov_model_free);
  TENON_BIND(ov_compiled_model_create_infer_request);
  TENON_BIND(ov_compiled_model_inputs_size);
  TENON_BIND(ov_compiled_model_outputs_size);
  TENON_BIND(ov_compiled_model_free);
  TENON_BIND(ov_infer_request_set_input_tensor_by_index);
  TENON_BIND(ov_infer_request_set_output_tensor_by_index);
  TENON_BIND(ov_infer_request_get_output_tensor_by_index);
  TENON_BIND(ov_infer_request_infer);
  TENON_BIND(ov_infer_request_cancel);
  TENON_BIND(ov_infer_request_free);
  TENON_BIND(ov_tensor_create_from_host_ptr);
  TENON_BIND(ov_tensor_get_shape);
  TENON_BIND(ov_tensor_get_element_type);
  TENON_BIND(ov_tensor_data);
  TENON_BIND(ov_tensor_free);
  TENON_BIND(ov_shape_free);
#undef TENON_BIND
  if (!functions_.ov_get_openvino_version || !functions_.ov_version_free) return not_openvino(library, missing);
  Version version{};
  if (functions_.ov_get_openvino_version(&version) == 0 && version.build) version_ = version.build;
  functions_.ov_version_free(&version);
  version_ = version_.substr(0, version_.find('-'));
  int year = 0;
  std::from_chars(version_.data(), version_.data() + version_.size(), year);
  if (year < kOldest)
    return fail(Code::wrong_target, kPlace, "this OpenVINO has another interface than is needed")
        .expected("OpenVINO " + std::to_string(kOldest) + " or newer")
        .found(version_ + ": " + library.file.string())
        .advice("install a newer one: pip install -U openvino");
  if (missing) return not_openvino(library, missing);
  return {};
}

Result<std::shared_ptr<const Api>> Api::open(const runtime::Libraries& libraries) {
  const runtime::Library library = TRY(runtime::open_library(kLibrary, libraries));
  auto api = std::shared_ptr<Api>(new Api());
  TRY(api->bind(library));
  api->file_ = library.file;
  Core* core = nullptr;
  TRY(api->check(api->functions_.ov_core_create(&core)));
  api->core_ = Owned<Core>(core, api->functions_.ov_core_free);
  return api;
}

Result<void> Api::check(Status status) const {
  if (status == 0) return {};
  const char* text = functions_.ov_get_last_err_msg();
  Error error = fail(Code::device_failed, "", "OpenVINO: " + (text && *text ? std::string(text) : "status " + std::to_string(status)));
  if (text) functions_.ov_free(text);
  return error;
}

ElementType element_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return 1;
    case DType::bf16: return 2;
    case DType::f16: return 3;
    case DType::f32: return 4;
    case DType::i8: return 7;
    case DType::i16: return 8;
    case DType::i32: return 9;
    case DType::i64: return 10;
    case DType::u8: return 16;
    case DType::u16: return 17;
    default: return 0;
  }
}

}  // namespace tenon::backends::openvino
