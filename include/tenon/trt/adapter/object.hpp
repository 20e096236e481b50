// SPDX-License-Identifier: Apache-2.0
// A plugin of any generation, as the adapter sees it.
#pragma once
#include <memory>

#include "tenon/ext/run.hpp"
#include "tenon/trt/adapter/exprs.hpp"
#include "tenon/trt/registry.hpp"

namespace tenon::trt::detail {

using Descs = std::vector<PluginTensorDesc>;
using DynamicDescs = std::vector<DynamicPluginTensorDesc>;
using Shapes = std::vector<DimsExprs>;

/// Functions throw ext::Error, with what the plugin logged.
class Object {
 public:
  virtual ~Object() = default;
  /// False: types, sizes and workspaces exist only while the model is built.
  virtual bool tells_shapes() const { return true; }
  virtual int32_t outputs() const = 0;
  virtual std::vector<DataType> types(const std::vector<DataType>& inputs) const = 0;
  /// shape_inputs: values, of the last of the inputs.
  virtual Shapes shapes(const Shapes& inputs, const Shapes& shape_inputs, Exprs& exprs) = 0;
  virtual bool supports(int32_t position, const Descs& all, int32_t inputs) = 0;
  virtual void configure(const DynamicDescs& inputs, const DynamicDescs& outputs) = 0;
  virtual size_t workspace(const Descs& inputs, const Descs& outputs) const = 0;
  virtual void save(const ext::Saver& saver) const = 0;
  /// One for a context.
  virtual std::unique_ptr<Object> attach() = 0;
  /// Of an attached one, as is enqueue.
  virtual void shapes_changed(const Descs& inputs, const Descs& outputs) = 0;
  virtual void enqueue(const Descs& inputs, const Descs& outputs, const std::vector<const void*>& from, const std::vector<void*>& to,
                       void* workspace, int32_t tactic) = 0;
  virtual std::vector<int32_t> tactics() { return {}; }
  /// The input that the output is written over; -1: none.
  virtual int32_t aliased(int32_t /*output*/) { return -1; }
};

/// status: of one of the plugin's functions.
inline void check(const char* function, int32_t status) {
  if (status != 0) throw ext::Error(TENON_FAILED, std::string(function) + " returned " + std::to_string(status) + take_errors());
}

inline int32_t size_of(size_t n) { return static_cast<int32_t>(n); }

}  // namespace tenon::trt::detail
