// SPDX-License-Identifier: Apache-2.0
/// What compile() and partition() take in addition to a model. tenon/tenon.h includes this file.
///
/// The struct CompileOptions is the one table of compile options. The command line, the Python package and the compiler's own options
/// follow from it when Tenon is built (tools/make_options.py; docs/why/041-one-table-of-options.md): a new option is a new entry here.
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

// clang-format off
/// Written between the documentation of an option and its field; lists, for the build alone, where else the option exists:
///   cli [= "--name VALUE"]   on the command line; by itself: "--" and the field's name with dashes; a bool that is true by default: "--no-"
///   help = "..."             its text in --help, where that is not the documentation's
///   group = "..."            its section in --help (cli/console/option_groups.h)
///   python [= "keyword"]     a keyword argument of tenon.compile and tenon.partition
///   python_docs = "..."      its documentation there, where the type differs
///   torch                    an option of tenon.torch.compile too, which passes it to each engine
///   compiler [= "type"]      a field of compiler::CompileOptions, of that type, which gets the value as it is given
///   pass                     false turns off the planning or graph pass of this name
///   saving                   of the file that is written: `tenon build` and tenon.compile alone have it
///   running                  it also counts where an engine that was built before runs
///   least = N, most = N      bounds of an integer; problem = "...", advice = "...": words of the error for values outside
#define TENON_OPTION(...)
// clang-format on

namespace tenon::inline v1 {

/// Where to find the libraries that some backends need and Tenon does not contain.
struct BackendLibraries {
  /// Paths of libraries by the name of the backend that needs them. Default: those of installed Python packages.
  TENON_OPTION(cli = "--backend-lib NAME=FILE", group = "Backends", python = "backend_libraries",
               help = "path of a backend's library (default: in packages of the active Python, else in the system's library path)")
  std::map<std::string, std::filesystem::path> files = {};
  /// Folders of Python packages to search for these libraries. Empty: those of VIRTUAL_ENV, else of the first python3 in PATH.
  std::vector<std::filesystem::path> packages = {};
  /// Libraries of custom ops for the backend onnxruntime.
  TENON_OPTION(cli = "--custom-ops LIB", group = "Backends", python,
               help = "a library of custom ops for the backend onnxruntime; may be repeated")
  std::vector<std::filesystem::path> custom_ops = {};
};

/// How nodes are assigned to backends. priority: to the first that supports the node. cost: such that the predicted time is least, by the
/// results of `tenon calibrate` and estimates of backends.
enum class Assign : uint8_t { priority = 0, cost = 1 };
/// How nodes are joined to segments: into the fewest, or, for two backends, by the algorithm of Torch-TensorRT.
enum class Segmenter : uint8_t { fewest = 0, walk = 1 };
/// What the operands of large products of f32 are rounded to; sums, and everything else, stay f32. bf16 needs a CPU with AVX512_BF16.
enum class Precision : uint8_t { f32 = 0, bf16 = 1 };

/// What the operand beside a matrix in blocks (of a checkpoint, or a quantized ONNX model) is rounded to in products. i8 needs a CPU with
/// AVX512_VNNI, bf16 one with AVX512_BF16. Sums over blocks, and everything else, stay f32.
enum class Activations : uint8_t { f32 = 0, bf16 = 1, i8 = 2 };

/// How the matrices of products of a checkpoint are stored. keep: as the checkpoint has them. int8, int4: in blocks of 32 elements with a
/// scale, of ggml's types Q8_0 and Q4_0. bf16: not supported yet. f32: decoded.
enum class StoredWeights : uint8_t { keep = 0, int8 = 1, int4 = 2, bf16 = 3, f32 = 4 };

/// How the states of a checkpoint's decoder store keys and values. int8, fp8: with a scale a token and KV head.
enum class CacheType : uint8_t { f32 = 0, f16 = 1, bf16 = 2, int8 = 3, fp8 = 4 };

/// A node or a module of the model, by name, and the backend that has to run it.
struct Pin {
  std::string name, backend;
};

/// The least, usual and largest shape of an input; the engine is optimised for the usual one.
struct InputRange {
  std::vector<int64_t> least, usual, most;

  /// One shape; -1: the size in the model.
  InputRange(std::vector<int64_t> sizes = {}) : least(sizes), usual(sizes), most(std::move(sizes)) {}
  InputRange(std::vector<int64_t> min, std::vector<int64_t> opt, std::vector<int64_t> max)
      : least(std::move(min)), usual(std::move(opt)), most(std::move(max)) {}
};

/// A BuildConfig of TensorRT-LLM as JSON: a file, or text in its place. docs/llm.md says what its fields do.
struct BuildConfigSource {
  std::filesystem::path file = {};
  std::string text = {};
};

struct CompileOptions {
  /// Folder of the model's external data; empty: the model's own.
  TENON_OPTION(cli = "--external-data DIR", python, help = "folder of the model's external data (default: the model's own)")
  std::filesystem::path external_data = {};

  /// How much the graph is rewritten: 0 (not at all) to 3 (all rules).
  TENON_OPTION(cli, python, compiler, least = 0, most = 3, problem = "there is no such level", advice = "3 does everything")
  int opt = 3;

  /// Threads to generate code on; 0: all that this process may use.
  TENON_OPTION(cli, python, compiler, running, least = 0, problem = "code cannot be generated on a negative number of threads",
               help = "threads to run on (default: what this process may use)")
  int threads = 0;

  /// Inputs whose shape is fixed; -1: the size in the model.
  std::map<std::string, std::vector<int64_t>> shapes = {};

  /// Bounds of the shapes of other inputs.
  TENON_OPTION(cli = "--shape NAME=SIZES", python = "shapes",
               python_docs = "Inputs whose shape is fixed; -1 leaves a size as the model says, and (least, usual, most) bounds it.",
               help =
                   "fix an input's shape: NAME=1x128; * stays open, a name makes a symbol; LEAST:USUAL:MOST, as in 1x14:8x128:32x512, "
                   "are bounds")
  std::map<std::string, InputRange> ranges = {};

  /// Outputs of the model that are wanted; empty: all. The engine has these alone, in the model's order, and computes what they need.
  TENON_OPTION(cli = "--only-output NAME", python, help = "compute only this output of the model, and others named so; may be repeated")
  std::vector<std::string> outputs = {};

  /// Inputs and the outputs that replace them, which are values that last between the runs of a context: "past_*=present_*:4096". A *
  /// stands for any text, the same in both names. Where the output has more rows than the input, these are appended, up to the capacity
  /// (the number; without it the upper bound of that size). A state is named as its input; callers neither give nor get it. "auto" pairs
  /// those of an exported language model by their names, and fills in its masks, positions and lengths (docs/llm.md).
  TENON_OPTION(cli = "--state PAST=PRESENT[:CAPACITY]", python,
               help =
                   "an input and the output that replaces it, kept between runs: 'past_*=present_*:4096', with the most rows that a "
                   "growing one may have; auto: those of a language model, by their names; may be repeated")
  std::vector<std::string> states = {};

  /// Context length of a checkpoint (a GGUF file, a folder of Hugging Face, an ONNX decoder with `states` = "auto"): how many tokens the
  /// states of the decoder have room for; 0: that of its training.
  TENON_OPTION(cli = "--context TOKENS", python, help = "of a checkpoint: context length in tokens; 0: that of its training")
  int64_t context = 0;

  /// Adapters of a checkpoint (LoRA): folders or .safetensors files of PEFT, or GGUF files, which are merged into its weights, one after
  /// the other; "FILE=0.5" scales its change.
  TENON_OPTION(cli = "--lora FILE[=SCALE]", python,
               help =
                   "of a checkpoint: merge an adapter (LoRA) into its weights, a folder or .safetensors file of PEFT or a GGUF file, with "
                   "its change times SCALE; may be repeated")
  std::vector<std::string> lora = {};

  /// How the matrices of products of a checkpoint are stored: as it has them, in blocks of 8 or 4 bits (Q8_0, Q4_0), or as f32.
  TENON_OPTION(cli, python, problem = "weights are not stored so",
               help = "of a checkpoint: store the matrices of products as it has them, in blocks of 8 or 4 bits (Q8_0, Q4_0), or as f32")
  StoredWeights weights = StoredWeights::keep;

  /// How the states of a checkpoint's decoder store keys and values.
  TENON_OPTION(cli, python, problem = "keys and values are not stored so",
               help = "of a checkpoint: store the states of keys and values in this type")
  CacheType kv = CacheType::f32;

  /// How many of the last tokens a token of a checkpoint's decoder reads, itself among them; sequences then have no end, in memory of a
  /// fixed size. 0: all tokens, as many as the context has. A layer whose own window is smaller keeps that.
  TENON_OPTION(cli = "--window N", python,
               help = "of a checkpoint: a token reads the last N tokens and the --sinks alone, and a sequence has no end (StreamingLLM)")
  int64_t window = 0;

  /// With `window`: how many of the first tokens of a sequence all others read too.
  TENON_OPTION(cli = "--sinks S", python,
               help = "with --window: the first S tokens of a sequence stay readable too (default: 0; 4 are usual)")
  int64_t sinks = 0;

  /// Sequences of equal lengths that a run of a checkpoint's decoder takes: tokens i64[batch,new], logits f32[batch,vocabulary]. 0: as many
  /// as the first run of a context has.
  TENON_OPTION(cli = "--batch N", python,
               help = "of a checkpoint: sequences of equal lengths in a run (default: 1); 0: as many as the first run of a context has")
  int64_t batch = 1;

  /// Inputs with a default value are constants. Else a run may override a default: for that the engine has a second program, and
  /// stores the defaults twice; runs that override none are as fast as with constants.
  TENON_OPTION(cli, python, help = "treat inputs with a default value as constants, which runs cannot override")
  bool freeze_defaults = false;

  /// A BuildConfig of TensorRT-LLM for the engine of a checkpoint, PluginConfig included.
  TENON_OPTION(cli = "--build-config FILE.json", python, saving,
               python_docs = "A BuildConfig of TensorRT-LLM for the engine of a checkpoint: tenon.BuildConfig, or a JSON file.",
               help = "of a checkpoint: a BuildConfig of TensorRT-LLM as JSON: lengths, cache, logits (docs/llm.md)")
  BuildConfigSource build_config = {};

  /// Called at the begin of each step of the compilation.
  std::function<void(std::string_view step)> progress = {};

  /// Backends in order of priority (`tenon backends` lists them). The last one is the fallback, which runs what the others do not support;
  /// cpu and reference run what the fallback does not support.
  TENON_OPTION(
      cli = "--backend NAME[,NAME]", python,
      help =
          "backends in order of priority; the last runs what the others do not support (cpu and reference what it does not support either)")
  std::vector<std::string> backends = {};

  /// How nodes are assigned to backends.
  TENON_OPTION(cli, group = "Backends", python, problem = "there is no such way to share a graph out",
               help = "assign each node to the first backend that supports it, or such that the predicted time is least")
  Assign assign = Assign::priority;

  /// Measures tactics and layouts of plugins and chooses the fastest; with assignment by cost, also measures the costs of nodes, which are
  /// estimated otherwise. Measuring runs in child processes; times are cached in ~/.cache/tenon/times.
  TENON_OPTION(cli, group = "Backends", python,
               help =
                   "choose the fastest tactics and layouts of plugins, and with --assign cost backends of nodes, by measured times "
                   "(in child processes)")
  bool measure = false;

  /// The program that runs and times engines for `measure`, and its first arguments; it is looked up in PATH. Empty: `tenon time`.
  std::vector<std::string> timing_program = {};

  /// Nodes that do work, of an accelerated segment. None: 1 with assignment by priority, as many as pay with that by cost.
  TENON_OPTION(cli = "--min-block-size N", group = "Backends", python, least = 1, most = 4294967295,
               problem = "a segment has at least one node",
               help = "least number of nodes that compute in a segment of a backend but the last (default: 1; with --assign cost by cost)")
  std::optional<int64_t> min_block_size = {};

  /// Ops that the fallback runs: "Op" or "domain::Op".
  TENON_OPTION(cli = "--fallback-ops OP[,OP]", group = "Backends", python, help = "ops that the last backend runs: Op or domain::Op")
  std::vector<std::string> fallback_ops = {};

  /// Modules that the fallback runs: "/a/b" or "a.b".
  TENON_OPTION(cli = "--fallback-modules PATH[,PATH]", group = "Backends", python,
               help = "modules that the last backend runs: encoder.layer.0")
  std::vector<std::string> fallback_modules = {};

  /// A node, else a module, and the backend that runs it.
  TENON_OPTION(cli = "--pin NAME=BACKEND", group = "Backends", python,
               help = "a node or a module and the backend that runs it; may be repeated")
  std::vector<Pin> pins = {};

  /// Bytes that an accelerated backend may hold; the rest goes to the next.
  TENON_OPTION(cli = "--memory NAME=BYTES[K|M|G]", group = "Backends", python,
               help = "memory limit of a backend in bytes; nodes that exceed it go to the next backend; may be repeated")
  std::map<std::string, int64_t> memory = {};

  /// Element types that may become others, which do not keep all their values (f64: f32, i64: i32), where an accelerated backend lacks
  /// them.
  TENON_OPTION(cli = "--narrow TYPE=TYPE[,...]", group = "Backends", python,
               help = "types that may be converted with loss of values where a backend does not support them: f64=f32,i64=i32")
  std::map<DType, DType> narrow = {};

  /// All work is accelerated, or it is an error.
  TENON_OPTION(cli, group = "Backends", python, help = "fail where the last backend would have to run nodes")
  bool require_full = false;

  /// How nodes are joined to segments: into the fewest, or, for two backends, by the algorithm of Torch-TensorRT.
  TENON_OPTION(cli, group = "Backends", python, problem = "there is no such way to cut a graph",
               help = "join nodes to the fewest segments, or by the algorithm of Torch-TensorRT")
  Segmenter segmenter = Segmenter::fewest;

  BackendLibraries libraries = {};

  /// Libraries of plugins (tenon/plugin.h), whose ops the model may have. They stay open until the process ends.
  TENON_OPTION(cli = "--plugin LIB", python,
               python_docs =
                   "Libraries with more ops (tenon/plugin.h), in addition to those of TENON_PLUGINS=A.so:B.so and what @tenon.plugin "
                   "registered. They stay open until the process ends.",
               help = "a library of plugins; may be repeated (in addition to those of TENON_PLUGINS=A.so:B.so)")
  std::vector<std::filesystem::path> plugins = {};

  /// Kernels of plugins, "acme::FastDFT", to use in place of Tenon's own.
  TENON_OPTION(cli = "--prefer NAME", group = "Plugins", python,
               help = "a plugin's kernel of an op, \"acme::FastDFT\", to use in place of Tenon's own; may be repeated")
  std::vector<std::string> prefer = {};

  /// The tactic of all nodes of a plugin's op, "acme::Conv", by its number.
  TENON_OPTION(cli = "--plugin-tactic NAME=ID", group = "Plugins", python,
               help = "the tactic of a plugin's nodes, by its number, \"acme::Conv=2\"; may be repeated")
  std::map<std::string, int32_t> plugin_tactics = {};

  /// Saving an engine puts the libraries of plugins that it needs into the file.
  TENON_OPTION(cli, group = "Plugins", python, compiler, saving,
               help = "store the plugin libraries that the engine needs in its file (see run --embedded-plugins)")
  bool embed_plugins = false;

  /// 3x3 convolutions take fewer products where that is faster, with rounding errors of twice the size.
  TENON_OPTION(cli, python, pass, help = "no Winograd algorithm for convolutions: less rounding error, more time (as --without winograd)")
  bool winograd = true;

  /// The engine also contains the definitions of plugins' ops, which run, with a warning, where a plugin is missing.
  TENON_OPTION(cli, group = "Plugins", python, compiler, saving,
               help = "store the definitions of plugins' ops in the engine too, which run, with a warning, where a plugin is missing")
  bool plugin_fallback = false;

  /// What the operands of large products of f32 are rounded to; sums, and everything else, stay f32. bf16 needs a CPU with AVX512_BF16.
  TENON_OPTION(cli, python, torch, compiler = "codegen::Precision", problem = "there is no such precision",
               help =
                   "bf16: operands of large products are rounded to it, sums stay f32; for CPUs with AVX512_BF16 (`compare` shows the "
                   "error)")
  Precision precision = Precision::f32;

  /// What the operand beside a matrix in blocks is rounded to in products: bf16 (with the elements of the matrix), or i8 with a scale for
  /// 16 or 32 neighbours.
  TENON_OPTION(cli, python, torch, compiler = "codegen::Activations", problem = "there are no such activations",
               help =
                   "bf16, i8: what products with matrices in blocks round their other operand to; for CPUs with AVX512_BF16 (bf16) or "
                   "AVX512_VNNI (i8)")
  Activations activations = Activations::f32;

  /// Whose code is generated: a target ("x86_avx2") for the host backend, "backend=target" for another that generates code. Default: this
  /// CPU's best, and what each other backend prefers.
  TENON_OPTION(cli = "--target [BACKEND=]TARGET", python, saving,
               help =
                   "target of generated code: x86_avx2, x86_avx512, x86_avx512_vnni, x86_avx512_bf16 (default: this CPU's best); with "
                   "BACKEND=, of that backend; may be repeated")
  std::vector<std::string> targets = {};

  /// Libraries of plugins run in processes of their own, so that one that crashes or hangs is an error of that run.
  TENON_OPTION(cli, group = "Plugins", python,
               help = "run each plugin library in a process of its own, so that a crash or hang is reported as an error")
  bool isolate_plugins = false;

  /// How long one call of an isolated plugin may take (in Python: in seconds).
  TENON_OPTION(cli, group = "Plugins", python, help = "with --isolate-plugins: seconds that one call of a plugin may take")
  std::chrono::milliseconds plugin_timeout{300'000};

  /// Bytes that the process of an isolated library of plugins may take; 0: no limit.
  TENON_OPTION(cli = "--plugin-memory BYTES", group = "Plugins", python,
               help = "with --isolate-plugins: bytes that a library's process may take (default: no limit)")
  uint64_t plugin_memory = 0;
};

}  // namespace tenon::inline v1

#undef TENON_OPTION
