// SPDX-License-Identifier: Apache-2.0
// Types of values, and the small interfaces that everything else uses: names, numbers and order are TensorRT's.
#pragma once
#include <cstddef>
#include <cstdint>

// What CUDA's headers declare too: pointers that nothing here looks into. Streams are null.
struct CUstream_st;
typedef struct CUstream_st* cudaStream_t;
struct cublasContext;
struct cudnnContext;

#ifndef NV_TENSORRT_MAJOR  // whose interfaces these are; sources of plugins test it
#define NV_TENSORRT_MAJOR 10
#define NV_TENSORRT_MINOR 15
#define NV_TENSORRT_PATCH 0
#endif
#ifndef NV_TENSORRT_VERSION
#define NV_TENSORRT_VERSION (NV_TENSORRT_MAJOR * 10000L + NV_TENSORRT_MINOR * 100L + NV_TENSORRT_PATCH)
#endif
#ifndef TENSORRTAPI
#define TENSORRTAPI __attribute__((visibility("default")))
#endif
#ifndef TRTNOEXCEPT
#define TRTNOEXCEPT
#endif

/// One a library: without it, the loader joins what equally named functions of several libraries keep.
#define TENON_TRT_OWN __attribute__((visibility("hidden")))

namespace tenon::trt {

using ::cublasContext;
using ::cudaStream_t;
using ::cudnnContext;
using char_t = char;
using AsciiChar = char;

enum class DataType : int32_t {
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6,
  kBF16 = 7,
  kINT64 = 8,
  kINT4 = 9,
  kFP4 = 10,
  kE8M0 = 11
};

enum class TensorFormat : int32_t {
  kLINEAR = 0,
  kCHW2 = 1,
  kHWC8 = 2,
  kCHW4 = 3,
  kCHW16 = 4,
  kCHW32 = 5,
  kDHWC8 = 6,
  kCDHW32 = 7,
  kHWC = 8,
  kDLA_LINEAR = 9,
  kDLA_HWC4 = 10,
  kHWC16 = 11,
  kDHWC = 12
};
using PluginFormat = TensorFormat;

/// nbDims -1: no dims, or unknown rank.
class Dims64 {
 public:
  static constexpr int32_t MAX_DIMS = 8;
  int32_t nbDims;
  int64_t d[MAX_DIMS];
};
using Dims = Dims64;

/// Values that somebody else owns.
class Weights {
 public:
  DataType type;
  void const* values;
  int64_t count;
};

struct PluginTensorDesc {
  Dims dims;
  DataType type;
  TensorFormat format;
  float scale;  ///< -1: none
};

/// The max of a size that nobody bounds, where TensorRT would have a profile: large, and a product of three fits 64 bits. Runs may have
/// more: configurePlugin (V2) or onShapeChange (V3) gives what they have, before they compute.
constexpr int64_t kNoLimit = 65536;

struct DynamicPluginTensorDesc {
  PluginTensorDesc desc;  ///< dims of -1 where min and max differ
  Dims min, max, opt;
};

enum class PluginFieldType : int32_t {
  kFLOAT16 = 0,
  kFLOAT32 = 1,
  kFLOAT64 = 2,
  kINT8 = 3,
  kINT16 = 4,
  kINT32 = 5,
  kCHAR = 6,
  kDIMS = 7,
  kUNKNOWN = 8,
  kBF16 = 9,
  kINT64 = 10,
  kFP8 = 11,
  kINT4 = 12,
  kFP4 = 13
};

class PluginField {
 public:
  AsciiChar const* name;
  void const* data;
  PluginFieldType type;
  int32_t length;

  PluginField(AsciiChar const* name_ = nullptr, void const* data_ = nullptr, PluginFieldType type_ = PluginFieldType::kUNKNOWN,
              int32_t length_ = 0) noexcept
      : name(name_), data(data_), type(type_), length(length_) {}
};

struct PluginFieldCollection {
  int32_t nbFields = 0;
  PluginField const* fields = nullptr;
};

enum class TensorRTPhase : int32_t { kBUILD = 0, kRUNTIME = 1 };

using InterfaceKind = char const*;
class InterfaceInfo {
 public:
  InterfaceKind kind;
  int32_t major, minor;
};
enum class APILanguage : int32_t { kCPP = 0, kPYTHON = 1 };

class IVersionedInterface {
 public:
  virtual APILanguage getAPILanguage() const noexcept { return APILanguage::kCPP; }
  virtual InterfaceInfo getInterfaceInfo() const noexcept = 0;
  virtual ~IVersionedInterface() noexcept = default;

 protected:
  IVersionedInterface() = default;
  IVersionedInterface(IVersionedInterface const&) = default;
  IVersionedInterface(IVersionedInterface&&) = default;
  IVersionedInterface& operator=(IVersionedInterface const&) & = default;
  IVersionedInterface& operator=(IVersionedInterface&&) & = default;
};

class ILogger : public IVersionedInterface {
 public:
  enum class Severity : int32_t { kINTERNAL_ERROR = 0, kERROR = 1, kWARNING = 2, kINFO = 3, kVERBOSE = 4 };
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"ILogger", 1, 0}; }
  virtual void log(Severity severity, AsciiChar const* msg) noexcept = 0;
};

class ILoggerFinder : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"ILoggerFinder", 1, 0}; }
  virtual ILogger* findLogger() = 0;

 protected:
  ~ILoggerFinder() override = default;
};

enum class ErrorCode : int32_t {
  kSUCCESS = 0,
  kUNSPECIFIED_ERROR = 1,
  kINTERNAL_ERROR = 2,
  kINVALID_ARGUMENT = 3,
  kINVALID_CONFIG = 4,
  kFAILED_ALLOCATION = 5,
  kFAILED_INITIALIZATION = 6,
  kFAILED_EXECUTION = 7,
  kFAILED_COMPUTATION = 8,
  kINVALID_STATE = 9,
  kUNSUPPORTED_STATE = 10
};

class IErrorRecorder : public IVersionedInterface {
 public:
  using ErrorDesc = char const*;
  using RefCount = int32_t;
  static constexpr size_t kMAX_DESC_LENGTH = 127;
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IErrorRecorder", 1, 0}; }
  virtual int32_t getNbErrors() const noexcept = 0;
  virtual ErrorCode getErrorCode(int32_t errorIdx) const noexcept = 0;
  virtual ErrorDesc getErrorDesc(int32_t errorIdx) const noexcept = 0;
  virtual bool hasOverflowed() const noexcept = 0;
  virtual void clear() noexcept = 0;
  virtual bool reportError(ErrorCode val, ErrorDesc desc) noexcept = 0;
  virtual RefCount incRefCount() noexcept = 0;
  virtual RefCount decRefCount() noexcept = 0;
};

enum class AllocatorFlag : int32_t { kRESIZABLE = 0 };
using AllocatorFlags = uint32_t;

class IGpuAllocator : public IVersionedInterface {
 public:
  InterfaceInfo getInterfaceInfo() const noexcept override { return {"IGpuAllocator", 1, 0}; }
  virtual void* allocate(uint64_t size, uint64_t alignment, AllocatorFlags flags) noexcept = 0;
  virtual void* reallocate(void* /*baseAddr*/, uint64_t /*alignment*/, uint64_t /*newSize*/) noexcept { return nullptr; }
  virtual bool deallocate(void* memory) noexcept = 0;
  virtual void* allocateAsync(uint64_t size, uint64_t alignment, AllocatorFlags flags, cudaStream_t /*stream*/) noexcept {
    return allocate(size, alignment, flags);
  }
  virtual bool deallocateAsync(void* memory, cudaStream_t /*stream*/) noexcept { return deallocate(memory); }
};

}  // namespace tenon::trt
