// SPDX-License-Identifier: Apache-2.0
/// Plugins in C++17: an op is a class, errors are exceptions, and nothing crosses the C interface but what tenon/plugin.h says.
///
///     class Swish {
///      public:
///       static void describe(tenon::ext::Description& op) {
///         op.name("acme", "Swish", "1");
///         op.operand("x", {TENON_F32});
///         op.result("y").in_place = 1;
///         op.field("beta", 1.0F, "how steep it is");
///       }
///       explicit Swish(const tenon::ext::Node& node) : beta_(node.get<float>("beta")) {}
///       void infer(tenon::ext::Inference& types) { types.result(0) = types.operand(0); }
///       void enqueue(const tenon::ext::Call& call);
///       ...
///     };
///     TENON_PLUGIN_LIBRARY("acme", "1.0", Swish)
///
/// A class has `describe`; with `enqueue` also the constructor. It may have, and what it lacks means what tenon_op says of it:
///     void infer(Inference&)                        bool supports(uint32_t position, const tenon_format*, uint32_t count)
///     void define(Definition&)                      void configure(const tenon_ranges&)
///     void enqueue(const Call&)                     std::vector<tenon_tactic> tactics()
///     void save(const Saver&)                       uint64_t workspace(Tensors operands, Tensors results)
///     std::unique_ptr<T> attach()                   void shapes_changed(Tensors operands, Tensors results)
#pragma once
#include "tenon/ext/core.hpp"
#include "tenon/ext/run.hpp"
#include "tenon/ext/table.hpp"

/// The one symbol of a library: its name, its version, its classes.
#define TENON_PLUGIN_LIBRARY(name, version, ...)                                   \
  TENON_EXPORT const tenon_library* tenon_plugin_library(const tenon_host* host) { \
    return ::tenon::ext::library<__VA_ARGS__>(host, name, version);                \
  }
