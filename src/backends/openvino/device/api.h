// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "base/dtype.h"
#include "base/result.h"
#include "runtime/libraries.h"

/// The part of OpenVINO's C interface (openvino/c, 2026) that is used: neither its headers nor the library is needed to build.
namespace tenon::backends::openvino {

struct Core;
struct Model;
struct CompiledModel;
struct Request;
struct Value;        ///< ov_tensor_t
using Status = int;  ///< 0: success
inline constexpr Status kInvalidParameter = -14;
using ElementType = uint32_t;
struct Shape {
  int64_t rank;
  int64_t* sizes;
};
struct Version {
  const char *build, *description;
};

/// The functions that are used, found by their names.
struct Functions {
  Status (*ov_get_openvino_version)(Version*);
  void (*ov_version_free)(Version*);
  const char* (*ov_get_last_err_msg)();
  void (*ov_free)(const char*);
  Status (*ov_core_create)(Core**);
  void (*ov_core_free)(Core*);
  Status (*ov_core_read_model_from_memory_buffer)(const Core*, const char* model, size_t bytes, const Value* weights, Model**);
  Status (*ov_core_compile_model)(const Core*, const Model*, const char* device, size_t arguments, CompiledModel**, ...);
  void (*ov_model_free)(Model*);
  Status (*ov_compiled_model_create_infer_request)(const CompiledModel*, Request**);
  Status (*ov_compiled_model_inputs_size)(const CompiledModel*, size_t*);
  Status (*ov_compiled_model_outputs_size)(const CompiledModel*, size_t*);
  void (*ov_compiled_model_free)(CompiledModel*);
  Status (*ov_infer_request_set_input_tensor_by_index)(Request*, size_t, const Value*);
  Status (*ov_infer_request_set_output_tensor_by_index)(Request*, size_t, const Value*);
  Status (*ov_infer_request_get_output_tensor_by_index)(const Request*, size_t, Value**);
  Status (*ov_infer_request_infer)(Request*);
  Status (*ov_infer_request_cancel)(Request*);
  void (*ov_infer_request_free)(Request*);
  Status (*ov_tensor_create_from_host_ptr)(ElementType, Shape, void*, Value**);
  Status (*ov_tensor_get_shape)(const Value*, Shape*);
  Status (*ov_tensor_get_element_type)(const Value*, ElementType*);
  Status (*ov_tensor_data)(const Value*, void**);
  void (*ov_tensor_free)(Value*);
  Status (*ov_shape_free)(Shape*);
};

using runtime::Owned;

/// The library, open and ready. Shared between threads.
class Api {
 public:
  /// Errors: those of runtime::open_library; bad_file for a library that is no OpenVINO, wrong_target for one that is too old.
  static Result<std::shared_ptr<const Api>> open(const runtime::Libraries& libraries);

  const Functions* operator->() const { return &functions_; }
  const Core* core() const { return core_.get(); }
  /// Errors: device_failed with the library's message, where the status is an error.
  Result<void> check(Status status) const;
  const std::filesystem::path& file() const { return file_; }
  const std::string& version() const { return version_; }

 private:
  Api() = default;
  Result<void> bind(const runtime::Library& library);
  std::filesystem::path file_;
  std::string version_;
  Functions functions_{};
  Owned<Core> core_{nullptr, nullptr};
};

/// OpenVINO's number of the element type; 0: OpenVINO lacks it, or Tenon passes no tensors of it.
ElementType element_type(DType dtype);

}  // namespace tenon::backends::openvino
