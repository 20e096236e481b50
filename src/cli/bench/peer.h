// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "files/npz.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// Which engine `tenon bench` and `tenon compare` compare with, and how it runs.
struct PeerOptions {
  std::string name;                     ///< "onnxruntime", "openvino", "torch" or "llama.cpp"
  std::filesystem::path model;          ///< an ONNX file; for llama.cpp a GGUF file
  std::filesystem::path external_data;  ///< empty: the model's folder
  int threads = 1;
  bool fixed_shapes = false;         ///< prepare the model for the shapes of the inputs alone
  std::vector<std::string> outputs;  ///< outputs of the model to compute; empty: all
};

/// Another inference engine that `tenon bench` compares with. It runs in a child process (tools/bench/peer_bench.py), which is stopped
/// except during requests, so that its threads use no CPU while Tenon is measured. It ends with this process.
class Peer {
 public:
  /// Starts it, loads the model, runs once. Errors: file_missing (no Python, or one without the peer's package, with advice),
  /// device_failed (with the peer's message).
  static Result<std::unique_ptr<Peer>> start(const PeerOptions& options, const files::NamedTensors& inputs);
  ~Peer();

  /// Milliseconds of `count` runs: consecutive ones after a warm-up run (of llama.cpp without one), or, with `cold`, each after the caches
  /// were evicted.
  Result<std::vector<double>> run(int count, bool cold = false);
  /// Gives the model other inputs, of any shapes that it takes. Errors: not_supported for a peer that cannot change inputs after its start.
  Result<void> set_inputs(const files::NamedTensors& inputs);
  /// Results in the model's order.
  Result<std::vector<Tensor>> outputs();
  /// 0 where the system does not report it.
  uint64_t peak_rss_bytes() const;

  std::string name, version;         ///< of the engine
  double load_ms = 0, first_ms = 0;  ///< times of loading and of the first run

 private:
  Peer() = default;
  Result<void> launch(const std::vector<std::string>& command);
  Result<std::string> read_line();
  /// Sends a command. Returns the line of response.
  Result<std::string> ask(const std::string& command);
  /// The errors of a process that ended, and of one that reported a failure.
  Error died(std::string why) const;
  Error failed(const std::string& why) const;

  std::string install_advice() const;

  std::filesystem::path python_;
  bool in_project_ = false;       ///< the script is in a source tree, which lists the packages that it needs
  std::filesystem::path folder_;  ///< of the inputs and outputs; removed at the end
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;  ///< pipes to and from the process
  std::string read_;         ///< bytes that were read and not yet returned by read_line()
};

/// Inputs by name, as a peer reads them. Errors: not_supported (an input or output is no tensor).
Result<files::NamedTensors> peer_inputs(const runtime::Engine& engine, std::span<const Tensor> inputs);

/// Peak resident memory of a process (0: this one), in bytes.
uint64_t peak_rss_bytes_of(pid_t process);

}  // namespace tenon::cli
