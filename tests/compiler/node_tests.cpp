// SPDX-License-Identifier: Apache-2.0
// The tests that ONNX's package brings: import, compile, run, compare. The folder comes from tools/models/make_node_tests.py. Each test
// runs in a child process, so that a crash or an endless loop counts as one failure and the others go on.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/compile.h"
#include "every_other.h"
#include "expected_failures.h"
#include "import/onnx_import.h"
#include "import/onnx_parse.h"
#include "import/onnx_tensor.h"
#include "ops/core/op.h"

namespace tenon::compiler {
namespace {

constexpr int kSecondsForOne = 30;

struct NodeTest {
  std::string name;  ///< SUITE/NAME
  std::filesystem::path folder;
  double rtol = 0, atol = 0;
  nlohmann::json data_sets;
  std::vector<std::string> ops;  ///< "Add", "ai.onnx.ml::Scaler"
};

const ir::Op* find_op(const std::string& name) {
  const size_t at = name.rfind("::");
  return at == name.npos ? ops::table().find("", name) : ops::table().find(name.substr(0, at), name.substr(at + 2));
}

/// The expected values are one draw of a generator that ONNX does not name: there is no right value, but dtype and shape are right.
bool draws(const NodeTest& test) {
  return std::any_of(test.ops.begin(), test.ops.end(), [](const std::string& name) {
    const ir::Op* op = find_op(name);
    return op && !op->deterministic;
  });
}

/// Reads the messages of onnx/onnx-data.proto.
class ValueReader {
 public:
  ValueReader(const std::string& name, const std::string& bytes) : bytes_(bytes), parser_{{name, bytes.data()}, limits_} {}

  Result<Tensor> read(const std::string& kind) {
    if (kind == "tensor") return tensor(bytes_);
    if (kind == "sequence") return sequence(bytes_);
    if (kind == "optional") return optional(bytes_);
    return fail(Code::not_supported, std::string(parser_.place.file), "not supported yet: a " + kind + " at the border of a model");
  }

 private:
  static constexpr uint32_t kTensors = 3, kOptionalSequence = 5;

  Result<Tensor> tensor(std::string_view message) {
    import::OnnxTensor read;
    TRY(parser_.read(read, message));
    return import::TensorReader(parser_.place, nullptr, std::nullopt, limits_).read(read);
  }

  Result<Tensor> sequence(std::string_view message) {
    std::vector<Tensor> elements;
    import::ProtoReader m(parser_.place, message);
    while (TRY(m.next())) {
      if (m.field() == kTensors) elements.push_back(TRY(tensor(TRY(m.bytes()))));
      else TRY(m.skip());
    }
    return Tensor::of_elements(DType::sequence, std::move(elements));
  }

  Result<Tensor> optional(std::string_view message) {
    std::vector<Tensor> elements;
    import::ProtoReader m(parser_.place, message);
    while (TRY(m.next())) {
      if (m.field() == kTensors) elements.push_back(TRY(tensor(TRY(m.bytes()))));
      else if (m.field() == kOptionalSequence) elements.push_back(TRY(sequence(TRY(m.bytes()))));
      else TRY(m.skip());
    }
    return Tensor::of_elements(DType::optional, std::move(elements));
  }

  const std::string& bytes_;
  import::OnnxLimits limits_;
  import::OnnxParser parser_;
};

Result<Tensor> read_value(const std::filesystem::path& path, const std::string& kind) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::file_missing, path.string(), "cannot be opened");
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string name = path.string();
  return ValueReader(name, bytes).read(kind);
}

/// Distance of two neighbours at |value| in a narrow type; 0 for types as wide as the tests' own arithmetic.
double spacing(DType dtype, double value) {
  const int bits = dtype == DType::f16                                      ? 10
                   : dtype == DType::bf16                                   ? 7
                   : dtype == DType::f8e4m3fn || dtype == DType::f8e4m3fnuz ? 3
                   : dtype == DType::f8e5m2 || dtype == DType::f8e5m2fnuz   ? 2
                                                                            : 0;
  if (bits == 0 || value == 0 || !std::isfinite(value)) return 0;
  return std::ldexp(1.0, std::ilogb(std::fabs(value)) - bits);
}

/// What numpy's transform in f32 leaves where the exact sum of such large terms is (nearly) 0.
double noise_of_transform(const Tensor& want, const NodeTest& test) {
  if (std::find(test.ops.begin(), test.ops.end(), "DFT") == test.ops.end()) return 0;
  double largest = 0;
  for (int64_t i = 0; i < want.count(); ++i) largest = std::fmax(largest, std::fabs(want.number(i)));
  return largest * 0x1p-23;
}

/// As numpy.testing.assert_allclose. Two spacings more for the narrow types: the suite's expected values are rounded after every
/// step of a numpy program in that type, ours once at the end of a kernel that computes in f32, so either may lie one off.
bool near_enough(DType dtype, double got, double want, const NodeTest& test, double noise) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  if (!std::isfinite(want) || !std::isfinite(got)) return false;
  return std::fabs(got - want) <= test.atol + noise + test.rtol * std::fabs(want) + 2 * spacing(dtype, want);
}

std::string shown(double a, double b) {
  char text[96];
  std::snprintf(text, sizeof text, "%.9g, not %.9g", a, b);
  return text;
}

/// Empty where they agree.
std::string difference(const Tensor& got, const Tensor& want, const NodeTest& test) {
  if (got.holds_tensors() || want.holds_tensors()) {
    if (got.dtype() != want.dtype() || got.count() != want.count()) return type_text(got) + ", not " + type_text(want);
    for (size_t k = 0; k < want.elements().size(); ++k)
      if (std::string text = difference(got.elements()[k], want.elements()[k], test); !text.empty()) return std::to_string(k) + ": " + text;
    return "";
  }
  if (got.dtype() != want.dtype() || got.shape() != want.shape())
    return type_text(got.dtype(), got.shape()) + ", not " + type_text(want.dtype(), want.shape());
  if (got.dtype() == DType::string) return got.strings() == want.strings() ? "" : "other strings";
  if (draws(test)) return "";
  const double noise = is_float(want.dtype()) ? noise_of_transform(want, test) : 0;
  for (int64_t i = 0; i < want.count(); ++i) {
    if (is_float(got.dtype()) || is_complex(got.dtype())) {
      if (!near_enough(got.dtype(), got.number(i), want.number(i), test, noise))
        return "element " + std::to_string(i) + " is " + shown(got.number(i), want.number(i));
    } else if (std::fabs(double(got.integer(i)) - double(want.integer(i))) > test.atol + test.rtol * std::fabs(double(want.integer(i)))) {
      return "element " + std::to_string(i) + " is " + std::to_string(got.integer(i)) + ", not " + std::to_string(want.integer(i));
    }
  }
  return "";
}

struct Outcome {
  Ending ending = Ending::broken;
  std::string text;
};

Result<std::string> run_and_compare(const NodeTest& test, const nlohmann::json& data, const runtime::Engine& engine,
                                    runtime::Context& context) {
  std::map<std::string, Tensor> given;
  for (const auto& port : data["inputs"]) given[port["name"]] = TRY(read_value(test.folder / port["file"], port["kind"]));
  std::vector<Tensor> inputs;
  for (const runtime::PortInfo& port : engine.inputs()) inputs.push_back(given[port.name]);
  const auto results = TRY(context.run(inputs));
  const auto& outputs = data["outputs"];
  if (results.size() != outputs.size()) return "wrong number of results";
  for (size_t k = 0; k < results.size(); ++k) {
    const Tensor want = TRY(read_value(test.folder / outputs[k]["file"], outputs[k]["kind"]));
    if (std::string text = difference(results[k], want, test); !text.empty()) return outputs[k]["name"].get<std::string>() + ": " + text;
  }
  return "";
}

/// Every other node, the first among them, elsewhere, and no two of them in one kernel: each is a segment where it reads the one before.
struct Alternating {
  backend::Backends all = *backends_named();
  tests::Some elsewhere{"elsewhere", *all[1], [](const ir::Graph&, ir::NodeId n) { return n.slot() % 2 == 0; }};
};

/// alternating: null, or the backends that take turns.
struct Way {
  int opt = 0;
  const Alternating* alternating = nullptr;
};

Result<std::string> run_and_compare(const NodeTest& test, const Way& way) {
  auto imported = TRY(import::import_onnx(test.folder / "model.onnx"));
  CompileOptions options;
  options.opt = way.opt;
  options.threads = 1;
  if (way.alternating) options.backends = {&way.alternating->elsewhere, way.alternating->all[0], way.alternating->all[1]};
  runtime::Devices devices;
  if (way.alternating) devices = {std::make_shared<tests::Renamed>("elsewhere")};
  const auto engine = TRY(load_compiled(TRY(compile(std::move(imported.graph), options)), devices));
  const auto context = TRY(runtime::Context::create(engine));
  for (const auto& data : test.data_sets)
    if (std::string text = TRY(run_and_compare(test, data, *engine, *context)); !text.empty()) return text;
  return "";
}

Outcome run_one(const NodeTest& test, const Way& way) {
  auto done = run_and_compare(test, way);
  if (!done) return {done.error().code() == Code::not_supported ? Ending::refused : Ending::differs, done.error().text()};
  return {done->empty() ? Ending::passed : Ending::differs, *done};
}

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  size_t test = 0;
  std::string text;
  std::chrono::steady_clock::time_point start;
};

/// Runs all tests, `jobs` children at a time.
class Runner {
 public:
  Runner(const std::vector<NodeTest>& tests, Way way, size_t jobs) : tests_(tests), way_(way), jobs_(jobs), outcomes_(tests.size()) {}

  std::vector<Outcome> run() {
    while (next_ < tests_.size() || !children_.empty()) {
      while (children_.size() < jobs_ && next_ < tests_.size()) start(next_++);
      wait();
    }
    return std::move(outcomes_);
  }

 private:
  void start(size_t test) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      const Outcome o = run_one(tests_[test], way_);
      const std::string text = static_cast<char>('0' + static_cast<int>(o.ending)) + o.text.substr(0, 3000);
      [[maybe_unused]] const ssize_t written = write(ends[1], text.data(), text.size());
      _exit(0);
    }
    close(ends[1]);
    children_.push_back({pid, ends[0], test, "", std::chrono::steady_clock::now()});
  }

  void wait() {
    std::vector<pollfd> polls;
    for (const Child& c : children_) polls.push_back({c.pipe, POLLIN, 0});
    poll(polls.data(), polls.size(), 500);
    for (size_t k = children_.size(); k-- > 0;) {
      Child& c = children_[k];
      const bool late = std::chrono::steady_clock::now() - c.start > std::chrono::seconds(kSecondsForOne);
      if (late) kill(c.pid, SIGKILL);
      char buffer[4096];
      if (!late && polls[k].revents == 0) continue;
      const ssize_t got = late ? 0 : read(c.pipe, buffer, sizeof buffer);
      if (got > 0) {
        c.text.append(buffer, static_cast<size_t>(got));
        continue;
      }
      finish(c, late);
      children_.erase(children_.begin() + static_cast<ptrdiff_t>(k));
    }
  }

  void finish(Child& c, bool late) {
    close(c.pipe);
    int status = 0;
    waitpid(c.pid, &status, 0);
    Outcome& o = outcomes_[c.test];
    if (late) o.text = "did not end";
    else if (WIFSIGNALED(status)) o.text = "crashed with signal " + std::to_string(WTERMSIG(status));
    else if (c.text.empty()) o.text = "ended without a word";
    else o = {static_cast<Ending>(c.text[0] - '0'), c.text.substr(1)};
  }

  const std::vector<NodeTest>& tests_;
  Way way_;
  size_t jobs_, next_ = 0;
  std::vector<Child> children_;
  std::vector<Outcome> outcomes_;
};

std::vector<NodeTest> read_manifest(const std::filesystem::path& folder, const std::string& filter) {
  std::vector<NodeTest> tests;
  std::ifstream file(folder / "manifest.json");
  for (auto& t : nlohmann::json::parse(file)["tests"]) {
    const std::string name = t["name"];
    if (name.find(filter) == std::string::npos) continue;
    tests.push_back({name, folder / name, t["rtol"], t["atol"], t["data_sets"], t["ops"]});
  }
  return tests;
}

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return {};
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

/// Prints what did not end as the list says; returns how many there are. all: every test was run, so that the list itself is judged too.
size_t report(const std::vector<NodeTest>& tests, const std::vector<Outcome>& outcomes, int opt, ExpectedFailures list, bool all) {
  size_t bad = 0, passed = 0, drawn = 0;
  for (size_t k = 0; k < tests.size(); ++k) {
    const Outcome& o = outcomes[k];
    passed += o.ending == Ending::passed;
    drawn += o.ending == Ending::passed && draws(tests[k]);
    if (list.judge(tests[k].name, opt, o.ending)) continue;
    ++bad;
    std::printf("opt %d: %s %s: %s\n", opt, tests[k].name.c_str(), std::string(word_of(o.ending)).c_str(), o.text.c_str());
  }
  if (all) {
    for (const std::string& complaint : list.complaints(opt)) {
      ++bad;
      std::printf("opt %d: %s\n", opt, complaint.c_str());
    }
  }
  std::printf("opt %d: %zu of %zu passed (%.1f %%), %zu of them random: compared by dtype and shape alone\n", opt, passed, tests.size(),
              100.0 * static_cast<double>(passed) / static_cast<double>(tests.size()), drawn);
  for (const auto& [reason, count] : list.skipped()) std::printf("  %4zu %s\n", count, reason.c_str());
  return bad;
}

int main_of(int argc, char** argv) {
  CLI::App app("Runs the tests of ONNX's package through the compiler; every one passes, but those that a list names with a reason.");
  std::string folder, filter, expected;
  std::vector<int> levels;
  size_t jobs = 2;
  bool alternating = false;
  app.add_option("DIR", folder, "folder made by tools/models/make_node_tests.py")->required();
  app.add_option("--opt", levels, "optimisation level; may stand several times (default: 0 and 3)");
  app.add_option("--filter", filter, "only tests whose names contain this");
  app.add_option("--expected", expected, "list of the tests that do not pass (default: none)");
  app.add_option("--jobs", jobs, "children at a time");
  app.add_flag("--alternating", alternating, "every other node is a segment of another backend");
  CLI11_PARSE(app, argc, argv);
  if (levels.empty()) levels = {0, 3};
  const auto tests = read_manifest(folder, filter);
  const auto text = expected.empty() ? std::string() : read_text(expected);
  if (!text || tests.empty()) {
    std::fprintf(stderr, "%s\n", text ? "no tests" : (expected + " cannot be read").c_str());
    return 2;
  }
  const Alternating taking_turns;
  size_t bad = 0;
  for (int opt : levels)
    bad += report(tests, Runner(tests, {opt, alternating ? &taking_turns : nullptr}, jobs).run(), opt, ExpectedFailures::parse(*text),
                  filter.empty() && !expected.empty());
  return bad > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tenon::compiler

int main(int argc, char** argv) { return tenon::compiler::main_of(argc, argv); }
