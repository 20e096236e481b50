// SPDX-License-Identifier: Apache-2.0
/// What compile() and partition() may be given beside a model. tenon/tenon.h includes this file.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/types.h"

namespace tenon::inline v1 {

/// Where the libraries are that some backends run on and Tenon does not bring.
struct BackendLibraries {
  /// Files of the libraries that some backends run on, by backend; empty: those of the installed Python packages.
  std::map<std::string, std::filesystem::path> files = {};
  /// Folders of Python packages, which bring them. Empty: those of VIRTUAL_ENV, else of the first python3 in PATH.
  std::vector<std::filesystem::path> packages = {};
  /// Libraries with more ops for the backend onnxruntime.
  std::vector<std::filesystem::path> custom_ops = {};
};

/// Each node to the first backend that supports it, or all to where they cost least by what `tenon calibrate` kept and backends guess.
enum class Assign : uint8_t { priority = 0, cost = 1 };
/// Into the fewest segments, or by the walk of Torch-TensorRT, for two backends.
enum class Segmenter : uint8_t { fewest = 0, walk = 1 };
/// What the operands of large products of f32 are rounded to; sums, and everything else, stay f32. bf16 needs a CPU with AVX512_BF16.
enum class Precision : uint8_t { f32 = 0, bf16 = 1 };

/// A node, else a module, of the model, and the backend that is to run it.
struct Pin {
  std::string name, backend;
};

/// The sizes that an input may have, and those of the runs that plans are made for.
struct InputRange {
  std::vector<int64_t> least, usual, most;

  /// One shape; -1: as the model says.
  InputRange(std::vector<int64_t> sizes = {}) : least(sizes), usual(sizes), most(std::move(sizes)) {}
  InputRange(std::vector<int64_t> min, std::vector<int64_t> opt, std::vector<int64_t> max)
      : least(std::move(min)), usual(std::move(opt)), most(std::move(max)) {}
};

struct CompileOptions {
  /// Folder of the model's external data; empty: the model's own.
  std::filesystem::path external_data = {};

  /// 0: no rewriting ... 3: everything.
  int opt = 3;

  /// Threads to generate code on; 0: all that this process may use.
  int threads = 0;

  /// Inputs whose shape is fixed; -1: as the model says.
  std::map<std::string, std::vector<int64_t>> shapes = {};

  /// Bounds of the shapes of other inputs.
  std::map<std::string, InputRange> ranges = {};

  /// Outputs of the model that are wanted; empty: all. The engine has these alone, in the model's order, and computes what they need.
  std::vector<std::string> outputs = {};

  /// Inputs with a default value are constants. Else a run may override a default: it takes a second program in the engine, which holds
  /// the defaults once more; other runs are as fast as with constants.
  bool freeze_defaults = false;

  /// Called as each step begins.
  std::function<void(std::string_view step)> progress = {};

  /// Who runs what, in order of priority: `tenon backends` names them. The last is the fallback, those before are accelerated; cpu and
  /// reference run what even the fallback cannot.
  std::vector<std::string> backends = {};

  /// Each node to the first backend that supports it, or all to where they cost least, by guesses and what `tenon calibrate` kept.
  Assign assign = Assign::priority;

  /// The ways of plugins are measured and the fastest is taken; with assignment by cost, costs are measured, not guessed. In processes of
  /// their own; times are kept in ~/.cache/tenon/times.
  bool measure = false;

  /// The program that measures, found as a shell finds it, and its first arguments: a library has no program of its own to start. Empty:
  /// `tenon stopwatch`.
  std::vector<std::string> stopwatch = {};

  /// Nodes that do work, of an accelerated segment. None: 1 with assignment by priority, as many as pay with that by cost.
  std::optional<int64_t> min_block_size = {};

  /// Ops that the fallback runs: "Op" or "domain::Op".
  std::vector<std::string> fallback_ops = {};

  /// Modules that the fallback runs: "/a/b" or "a.b".
  std::vector<std::string> fallback_modules = {};

  /// A node, else a module, and the backend that runs it.
  std::vector<Pin> pins = {};

  /// Bytes that an accelerated backend may hold; the rest goes to the next.
  std::map<std::string, int64_t> memory = {};

  /// Element types that may become others, which do not keep all their values (f64: f32, i64: i32), where an accelerated backend lacks
  /// them.
  std::map<DType, DType> narrow = {};

  /// All work is accelerated, or it is an error.
  bool require_full = false;

  /// Into the fewest segments, or by the walk of Torch-TensorRT, for two backends.
  Segmenter segmenter = Segmenter::fewest;

  BackendLibraries libraries = {};

  /// Libraries of plugins (tenon/plugin.h), whose ops the model may have. They stay open until the process ends.
  std::vector<std::filesystem::path> plugins = {};

  /// Kernels of plugins, "acme::FastDFT", to take in place of Tenon's own.
  std::vector<std::string> prefer = {};

  /// The tactic of all nodes of a plugin's op, "acme::Conv", by its number.
  std::map<std::string, int32_t> plugin_tactics = {};

  /// Saving an engine puts the libraries of plugins that it needs into the file.
  bool embed_plugins = false;

  /// 3x3 convolutions take fewer products where that is faster, with rounding errors of twice the size.
  bool winograd = true;

  /// Definitions stand beside plugins in the engine, and run, with a warning, where a plugin is missing.
  bool plugin_fallback = false;

  /// What the operands of large products of f32 are rounded to; sums, and everything else, stay f32. bf16 needs a CPU with AVX512_BF16.
  Precision precision = Precision::f32;

  /// Libraries of plugins run in processes of their own, so that one that crashes or hangs is an error of that run.
  bool isolate_plugins = false;

  /// How long one call of an isolated plugin may take (in Python: in seconds).
  std::chrono::milliseconds plugin_patience{300'000};

  /// Bytes that the process of an isolated library of plugins may take; 0: no limit.
  uint64_t plugin_memory = 0;
};

}  // namespace tenon::inline v1
