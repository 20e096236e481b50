// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

/// The part of ONNX Runtime's C interface that is used: functions by their place in the table OrtApi, which only grows, so that neither
/// its header nor the library is needed to build. The places are those of onnxruntime_c_api.h, version 15 (ONNX Runtime 1.15) and later.
namespace tenon::backends::onnxruntime {

struct Allocator;
struct Env;
struct MemoryInfo;
struct RunOptions;
struct Session;
struct SessionOptions;
struct Status;  ///< a null pointer: success
struct TensorInfo;
struct TypeInfo;
struct Value;

inline constexpr uint32_t kVersion = 15;

/// The struct that OrtGetApiBase returns.
struct Base {
  const void* const* (*table)(uint32_t version);
  const char* (*version)();
};

enum class Logging : int { fatal = 4 };
enum class Optimisation : int { none = 0, all = 99 };
enum class AllocatorKind : int { device = 0, arena = 1 };
enum class MemoryKind : int { any = 0 };
struct ArenaOptions;
/// Number of an element type, as in ONNX.
using ElementType = int;

template <class Signature>
struct Function {
  size_t place;  ///< index in OrtApi
};

namespace function {

inline constexpr Function<const char*(const Status*)> error_message{2};
inline constexpr Function<Status*(Logging, const char* name, Env**)> create_env{3};
inline constexpr Function<Status*(const Env*, const void* model, size_t bytes, const SessionOptions*, Session**)> create_session{8};
inline constexpr Function<Status*(Session*, const RunOptions*, const char* const* inputs, const Value* const* values, size_t count,
                                  const char* const* outputs, size_t output_count, Value** results)>
    run{9};
inline constexpr Function<Status*(SessionOptions**)> create_session_options{10};
inline constexpr Function<Status*(SessionOptions*)> disable_memory_pattern{17};
inline constexpr Function<Status*(SessionOptions*, Logging)> set_session_logging{22};
inline constexpr Function<Status*(SessionOptions*, Optimisation)> set_optimisation{23};
inline constexpr Function<Status*(SessionOptions*, int)> set_intra_op_threads{24};
inline constexpr Function<Status*(SessionOptions*, int)> set_inter_op_threads{25};
inline constexpr Function<Status*(const Session*, size_t*)> input_count{30};
inline constexpr Function<Status*(const Session*, size_t*)> output_count{31};
inline constexpr Function<Status*(const Session*, size_t index, TypeInfo**)> output_type{34};
inline constexpr Function<Status*(RunOptions**)> create_run_options{39};
inline constexpr Function<Status*(RunOptions*)> set_terminate{46};
inline constexpr Function<Status*(Allocator*, const int64_t* shape, size_t rank, ElementType, Value**)> create_tensor{48};
inline constexpr Function<Status*(const MemoryInfo*, void* data, size_t bytes, const int64_t* shape, size_t rank, ElementType, Value**)>
    create_tensor_over{49};
inline constexpr Function<Status*(Value*, void**)> tensor_data{51};
inline constexpr Function<Status*(const Value*, size_t* bytes)> string_bytes{53};
inline constexpr Function<Status*(const Value*, void* text, size_t bytes, size_t* begins, size_t count)> string_content{54};
/// The tensor type is owned by the TypeInfo; null: the type is no tensor.
inline constexpr Function<Status*(const TypeInfo*, const TensorInfo**)> tensor_of_type{55};
inline constexpr Function<Status*(const TensorInfo*, ElementType*)> element_type{60};
inline constexpr Function<Status*(const TensorInfo*, size_t* rank)> rank{61};
inline constexpr Function<Status*(const TensorInfo*, int64_t* sizes, size_t rank)> sizes{62};
inline constexpr Function<Status*(const Value*, TensorInfo**)> tensor_info{65};
inline constexpr Function<Status*(AllocatorKind, MemoryKind, MemoryInfo**)> create_cpu_memory{69};
inline constexpr Function<Status*(Allocator**)> default_allocator{78};
inline constexpr Function<void(Env*)> release_env{92};
inline constexpr Function<void(Status*)> release_status{93};
inline constexpr Function<void(MemoryInfo*)> release_memory{94};
inline constexpr Function<void(Session*)> release_session{95};
inline constexpr Function<void(Value*)> release_value{96};
inline constexpr Function<void(RunOptions*)> release_run_options{97};
inline constexpr Function<void(TypeInfo*)> release_type{98};
inline constexpr Function<void(TensorInfo*)> release_tensor_info{99};
inline constexpr Function<void(SessionOptions*)> release_session_options{100};
inline constexpr Function<Status*(SessionOptions*, const char* key, const char* value)> set_session_entry{130};
inline constexpr Function<Status*(Env*, const MemoryInfo*, const ArenaOptions*)> register_allocator{144};
inline constexpr Function<Status*(SessionOptions*, const char* name, const Value*)> share_initializer{150};
inline constexpr Function<Status*(SessionOptions*, const char* const* names, const Value* const*, size_t)> copy_initializers{210};
inline constexpr Function<Status*(SessionOptions*, const char* file)> register_custom_ops{228};
inline constexpr Function<Status*(Value*, size_t index, size_t bytes, char** text)> string_buffer{252};

}  // namespace function
}  // namespace tenon::backends::onnxruntime
