// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/container_value.h"
#include "runtime/input_checks.h"
#include "runtime/libraries.h"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPeerScript = "tools/bench/peer_bench.py";
constexpr const char* kInstalledScript = "share/tenon/peer_bench.py";  // beside bin/tenon; in a wheel beside the program itself
constexpr const char* kProjectPython = ".venv-peers/bin/python";
constexpr const char* kInstall = ".venv-peers/bin/pip install --no-deps -r tools/requirements-peers.txt";
constexpr const char* kInstallOpenVino = ".venv-peers/bin/pip install --no-deps -r tools/requirements-openvino.txt";
constexpr const char* kInstallTorch = ".venv-peers/bin/pip install -r tools/requirements-torch.txt";
constexpr const char* kInstallLlama = ".venv-peers/bin/pip install --no-deps -r tools/requirements-llama.txt";
constexpr int kAnswerMs = 600'000;

/// The project folder: the first one above the program, or above the current folder, that has the script.
fs::path project_folder() {
  std::error_code error;
  for (const fs::path& start : {fs::read_symlink("/proc/self/exe", error), fs::current_path(error)})
    for (fs::path at = start; at.has_relative_path(); at = at.parent_path())
      if (fs::exists(at / kPeerScript, error)) return at;
  return {};
}

/// The project's script; that of an installed program where there is no project.
Result<fs::path> script_of(const fs::path& project) {
  if (!project.empty()) return project / kPeerScript;
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(), installed = folder.parent_path() / kInstalledScript;
  for (const fs::path& script : {installed, folder / kInstalledScript})
    if (fs::exists(script, error)) return script;
  return fail(Code::file_missing, installed.string(), "the script that runs the other engine is not there")
      .expected("an installed program (cmake --install, or the wheel tenon-compiler), or a build inside the project folder")
      .advice("install tenon again");
}

/// TENON_PEERS_PYTHON; the project's own; the active one.
Result<fs::path> python_of(const fs::path& project) {
  std::error_code error;
  if (const char* set = std::getenv("TENON_PEERS_PYTHON"); set && *set) return fs::path(set);
  if (!project.empty() && fs::exists(project / kProjectPython, error)) return project / kProjectPython;
  if (const auto active = runtime::active_python()) return *active;
  return fail(Code::file_missing, "--vs", "there is no Python with the other engine's package")
      .expected(".venv-peers/bin/python in the project folder, an active Python, or TENON_PEERS_PYTHON")
      .found("no python3 in PATH")
      .advice("activate a Python environment that has the package");
}

Result<fs::path> temporary_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "tenon-peer-XXXXXX").string();
  if (error || !mkdtemp(name.data())) return fail(Code::write_failed, name, "no temporary folder can be made").found(std::strerror(errno));
  return fs::path(name);
}

std::vector<double> numbers_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> out;
  for (double v = 0; in >> v;) out.push_back(v);
  return out;
}

}  // namespace

Result<std::unique_ptr<Peer>> Peer::start(const PeerOptions& options, const files::NamedTensors& inputs) {
  const fs::path project = project_folder();
  const fs::path script = TRY(script_of(project));
  auto peer = std::unique_ptr<Peer>(new Peer);
  peer->name = options.name;
  peer->in_project_ = !project.empty();
  peer->python_ = TRY(python_of(project));
  peer->folder_ = TRY(temporary_folder());
  const fs::path file = peer->folder_ / "inputs.npz";
  TRY(files::write_npz(file, inputs));
  std::vector<std::string> command{peer->python_, script, options.name, options.model, file, "--threads", std::to_string(options.threads)};
  if (!options.external_data.empty()) command.insert(command.end(), {"--external-data", fs::absolute(options.external_data)});
  if (options.fixed_shapes) command.push_back("--fixed-shapes");
  for (const std::string& output : options.outputs) command.insert(command.end(), {"--only-output", output});
  TRY(peer->launch(command));
  std::istringstream ready(TRY(peer->read_line()));
  std::string word;
  ready >> word >> peer->load_ms >> peer->first_ms;
  std::getline(ready >> std::ws, peer->version);
  if (word != "ready") return peer->died("it did not say that it is ready");
  kill(peer->process_, SIGSTOP);
  return peer;
}

Result<void> Peer::launch(const std::vector<std::string>& command) {
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) return died(std::strerror(errno));
  std::vector<char*> words;
  for (const std::string& c : command) words.push_back(const_cast<char*>(c.c_str()));
  words.push_back(nullptr);
  signal(SIGPIPE, SIG_IGN);  // a peer that is gone is an error of write()
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // also where it is stopped
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execv(words[0], words.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (process_ < 0) return died(std::strerror(errno));
  return {};
}

Peer::~Peer() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (to_ >= 0) close(to_);
  if (from_ >= 0) close(from_);
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

std::string Peer::install_advice() const {
  const bool llama = name == "llama.cpp";
  if (!in_project_) return fmt::format("{} -m pip install numpy {}", python_.string(), llama ? "llama-cpp-python" : "onnx " + name);
  return std::string(kInstall) + (name == "torch"      ? std::string(" && ") + kInstallTorch
                                  : name == "openvino" ? std::string(" && ") + kInstallOpenVino
                                  : llama              ? std::string(" && ") + kInstallLlama
                                                       : "");
}

/// The error of a failed request, with advice where a package is not installed; a model that the peer does not support has none.
Error Peer::failed(const std::string& why) const {
  if (why.starts_with("missing "))
    return fail(Code::file_missing, name, "the Python for other engines lacks a package")
        .expected("the other engine's package in " + python_.string())
        .found("no module " + why.substr(8))
        .advice(install_advice());
  if (why.starts_with("unfit "))
    return fail(Code::device_failed, name, "the other engine cannot take this model")
        .expected("a model that " + name + " loads and runs")
        .found(why.substr(6))
        .advice(name == "llama.cpp" ? "measure without --vs"
                                    : "compare with --vs onnxruntime, or export the model by the other exporter or at another opset");
  return died(why);
}

Error Peer::died(std::string why) const { return fail(Code::device_failed, name, "the other engine failed").found(std::move(why)); }

Result<std::string> Peer::read_line() {
  for (;;) {
    if (const size_t end = read_.find('\n'); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      if (line.starts_with("error ")) return failed(line.substr(6));
      return line;
    }
    pollfd ready{from_, POLLIN, 0};
    const int count = poll(&ready, 1, kAnswerMs);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return died("no answer in ten minutes");
    std::array<char, 4096> block;
    const ssize_t bytes = read(from_, block.data(), block.size());
    if (bytes <= 0) return died("its process ended");
    read_.append(block.data(), static_cast<size_t>(bytes));
  }
}

Result<std::string> Peer::ask(const std::string& command) {
  kill(process_, SIGCONT);
  const std::string line = command + "\n";
  if (write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return died("its process ended");
  std::string answer = TRY(read_line());
  kill(process_, SIGSTOP);
  return answer;
}

Result<std::vector<double>> Peer::run(int count, bool cold) {
  const std::string answer = TRY(ask(fmt::format("{} {}", cold ? "cold" : "run", count)));
  std::vector<double> times;
  if (answer.starts_with("times ")) times = numbers_in(answer.substr(6));
  if (times.size() != static_cast<size_t>(count)) return died("an answer that is not understood: " + answer);
  return times;
}

Result<void> Peer::set_inputs(const files::NamedTensors& inputs) {
  if (name == "torch")
    return fail(Code::not_supported, name, "not supported yet: other inputs than those that the model was traced with")
        .expected("onnxruntime or openvino")
        .found(name);
  const fs::path file = folder_ / "inputs.npz";
  TRY(files::write_npz(file, inputs));
  TRY(ask("inputs " + file.string()));
  return {};
}

Result<std::vector<Tensor>> Peer::outputs() {
  const fs::path file = folder_ / "outputs.npz";
  TRY(ask("outputs " + file.string()));
  auto named = TRY(files::read_npz(file));
  std::vector<Tensor> out(named.size());
  for (auto& [key, tensor] : named) {
    const size_t number = key.starts_with("arr_") ? static_cast<size_t>(std::atoi(key.c_str() + 4)) : named.size();
    if (number >= out.size()) return died("an output of an unexpected name: " + key);
    out[number] = std::move(tensor);
  }
  return out;
}

uint64_t Peer::peak_rss_bytes() const { return peak_rss_bytes_of(process_); }

Result<files::NamedTensors> peer_inputs(const runtime::Engine& engine, std::span<const Tensor> inputs) {
  for (const auto& ports : {engine.inputs(), engine.outputs()})
    for (const runtime::PortInfo& p : ports)
      if (runtime::is_container(p))
        return fail(Code::not_supported, runtime::port_place("value", p), "not supported yet: sequences and optionals with another engine")
            .expected("tensors")
            .found(runtime::text_of(p.container, p.dtype));
  files::NamedTensors named;
  for (size_t k = 0; k < inputs.size(); ++k)
    if (!inputs[k].empty_handle()) named.emplace_back(engine.inputs()[k].name, inputs[k]);
  return named;
}

uint64_t peak_rss_bytes_of(pid_t process) {
  std::ifstream status(process > 0 ? fmt::format("/proc/{}/status", process) : "/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  return 0;
}

}  // namespace tenon::cli
