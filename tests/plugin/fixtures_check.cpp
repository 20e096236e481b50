// SPDX-License-Identifier: Apache-2.0
// Tries libraries of plugins behind a host of its own, which does the least: fixtures_check CPP_OPS.so TRT_GEMM_V2.so TRT_SWISH_V3.so
#include <dlfcn.h>
#include <tenon/plugin.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

int failures = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", what.c_str());
}

// ---- The host: even handles of sizes are numbers, odd ones are not known ---------------------------------------------------------------

std::string failure, logged;

tenon_dim dim(const tenon_host*, int64_t number) { return static_cast<tenon_dim>(number) << 1; }
int32_t dim_number(const tenon_host*, tenon_dim d, int64_t* number) {
  if (d & 1) return 0;
  *number = static_cast<int64_t>(d) >> 1;
  return 1;
}
tenon_dim dim_of(const tenon_host* host, int32_t operation, tenon_dim a, tenon_dim b) {
  int64_t x = 0, y = 0;
  if (!dim_number(host, a, &x) || !dim_number(host, b, &y)) return ((a * 31 + b) * 31 + static_cast<uint64_t>(operation)) | 1;
  switch (operation) {
    case TENON_ADD: return dim(host, x + y);
    case TENON_SUBTRACT: return dim(host, x - y);
    case TENON_MULTIPLY: return dim(host, x * y);
    case TENON_FLOOR_DIVIDE: return dim(host, x / y);
    case TENON_CEIL_DIVIDE: return dim(host, (x + y - 1) / y);
    case TENON_MIN: return dim(host, x < y ? x : y);
    case TENON_MAX: return dim(host, x < y ? y : x);
    case TENON_EQUAL: return dim(host, x == y);
    default: return dim(host, x < y);
  }
}
const tenon_host kHost = {sizeof(tenon_host),
                          TENON_PLUGIN_VERSION,
                          [](const tenon_host*, int32_t, const char* text) { logged += std::string(text) + "\n"; },
                          [](const tenon_host*, int32_t status, const char* text) {
                            failure = text;
                            return status;
                          },
                          dim,
                          dim_of,
                          dim_number,
                          nullptr,
                          nullptr};

// ---- Values
// ------------------------------------------------------------------------------------------------------------------------------

struct Value {
  std::vector<int64_t> sizes;
  std::vector<float> data;
  tenon_tensor view(int32_t dtype = TENON_F32) {
    return {sizeof(tenon_tensor),
            dtype,
            TENON_ROW_MAJOR,
            static_cast<int32_t>(sizes.size()),
            sizes.data(),
            nullptr,
            data.empty() ? nullptr : data.data()};
  }
};

struct Field {
  std::string name;
  int32_t type;
  int64_t length;
  std::string bytes;
};
template <class T>
Field field(const char* name, int32_t type, T value) {
  return {name, type, 1, std::string(reinterpret_cast<const char*>(&value), sizeof value)};
}
Field text(const char* name, const std::string& value) { return {name, TENON_FIELD_CHAR, static_cast<int64_t>(value.size()), value}; }

/// One object of an op.
class Object {
 public:
  Object(const tenon_op& op, tenon_phase phase, const std::vector<Field>& fields, uint32_t operands, uint32_t results) : op_(op) {
    std::vector<tenon_field> own;
    for (const Field& f : fields) own.push_back({sizeof(tenon_field), f.name.c_str(), f.type, f.length, f.bytes.data()});
    std::vector<const tenon_field*> pointers;
    for (const tenon_field& f : own) pointers.push_back(&f);
    const tenon_node node{sizeof(tenon_node), phase, "node", static_cast<uint32_t>(own.size()), pointers.data(), operands, results};
    failure.clear();
    status = op.create(&kHost, &node, &self);
  }
  ~Object() {
    if (self) op_.destroy(self);
  }
  Object(const Object&) = delete;

  std::vector<Field> saved() const {
    std::vector<Field> out;
    const tenon_saver saver{
        sizeof(tenon_saver),
        [](const tenon_saver* to, const tenon_field* f) -> int32_t {
          const size_t each = f->type == TENON_FIELD_F32 || f->type == TENON_FIELD_I32 ? 4 : f->type == TENON_FIELD_I64 ? 8 : 1;
          static_cast<std::vector<Field>*>(to->host_data)
              ->push_back(
                  {f->name, f->type, f->length, std::string(static_cast<const char*>(f->data), static_cast<size_t>(f->length) * each)});
          return TENON_OK;
        },
        &out};
    expect(op_.save(self, &saver) == TENON_OK, std::string(op_.name) + ": save: " + failure);
    return out;
  }

  /// Types of results; sizes of -1 are not known.
  int32_t infer(const std::vector<std::vector<int64_t>>& operands, std::vector<std::vector<int64_t>>& sizes) const {
    std::vector<std::vector<tenon_dim>> handles;
    std::vector<tenon_type> types, results(sizes.size());
    for (const auto& shape : operands) {
      auto& own = handles.emplace_back();
      for (const int64_t n : shape) own.push_back(n < 0 ? 1001 : dim(&kHost, n));
    }
    for (auto& own : handles)
      types.push_back({sizeof(tenon_type), TENON_F32, static_cast<int32_t>(own.size()), own.data(), 0, nullptr, nullptr});
    std::vector<std::vector<tenon_dim>> room(sizes.size(), std::vector<tenon_dim>(TENON_MAX_RANK));
    for (size_t k = 0; k < results.size(); ++k) results[k] = {sizeof(tenon_type), 0, -1, room[k].data(), 0, nullptr, nullptr};
    std::vector<const tenon_type*> in;
    std::vector<tenon_type*> out;
    for (const tenon_type& t : types) in.push_back(&t);
    for (tenon_type& t : results) out.push_back(&t);
    tenon_inference own{sizeof(tenon_inference),
                        &kHost,
                        static_cast<uint32_t>(in.size()),
                        in.data(),
                        static_cast<uint32_t>(out.size()),
                        out.data(),
                        [](const tenon_inference*, tenon_dim) -> tenon_dim { return 2001; }};
    failure.clear();
    const int32_t status = op_.infer(self, &own);
    for (size_t k = 0; status == TENON_OK && k < sizes.size(); ++k) {
      sizes[k].assign(static_cast<size_t>(results[k].rank), -1);
      for (size_t axis = 0; axis < sizes[k].size(); ++axis) dim_number(&kHost, room[k][axis], &sizes[k][axis]);
    }
    return status;
  }

  int32_t run(std::vector<Value>& operands, std::vector<tenon_tensor>& results, int32_t tactic = 0, bool check_workspace = true) const;

  int32_t status;
  void* self = nullptr;

 private:
  const tenon_op& op_;
};

/// What set_sizes was told of result 0.
struct Late {
  std::vector<int64_t> sizes;
  std::vector<float> data;
} late;

int32_t Object::run(std::vector<Value>& operands, std::vector<tenon_tensor>& results, int32_t tactic, bool check_workspace) const {
  void* attached = self;
  if (op_.attach && op_.attach(self, &attached) != TENON_OK) return TENON_FAILED;
  std::vector<tenon_tensor> views;
  for (Value& v : operands) views.push_back(v.view());
  std::vector<const tenon_tensor*> in, out;
  for (const tenon_tensor& t : views) in.push_back(&t);
  for (const tenon_tensor& t : results) out.push_back(&t);
  failure.clear();
  uint64_t bytes = 0;
  int32_t status = op_.shapes_changed ? op_.shapes_changed(attached, in.data(), out.data()) : static_cast<int32_t>(TENON_OK);
  if (status == TENON_OK && op_.workspace) status = op_.workspace(attached, in.data(), out.data(), &bytes);
  std::vector<uint64_t> workspace(bytes / 8 + 2, 0x5a5a5a5a5a5a5a5aU);
  const tenon_call call{
      sizeof(tenon_call),
      &kHost,
      static_cast<uint32_t>(in.size()),
      in.data(),
      static_cast<uint32_t>(out.size()),
      out.data(),
      bytes > 0 ? workspace.data() : nullptr,
      tactic,
      1,
      [](const tenon_call*, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t, int32_t), void* argument) -> int32_t {
        for (int64_t at = 0; at < count; at += grain) body(argument, at, std::min(at + grain, count), 0);
        return TENON_OK;
      },
      [](const tenon_call*) -> int32_t { return 0; },
      [](const tenon_call*, uint32_t, int32_t rank, const int64_t* sizes, void** data) -> int32_t {
        late.sizes.assign(sizes, sizes + rank);
        late.data.resize(rank > 0 ? static_cast<size_t>(sizes[0]) : 1);
        *data = late.data.data();
        return TENON_OK;
      },
      nullptr,
      nullptr};
  if (status == TENON_OK) status = op_.enqueue(attached, &call);
  if (check_workspace) expect(workspace.back() == 0x5a5a5a5a5a5a5a5aU, std::string(op_.name) + " writes past the end of its workspace");
  if (attached != self) op_.destroy(attached);
  return status;
}

const tenon_library* opened(const char* file) {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) std::printf("%s\n", dlerror());
  const auto entry = handle ? reinterpret_cast<decltype(&tenon_plugin_library)>(dlsym(handle, "tenon_plugin_library")) : nullptr;
  const tenon_library* const library = entry ? entry(&kHost) : nullptr;
  expect(library, std::string(file) + " has no table: " + failure);
  return library;
}

const tenon_op* op_named(const tenon_library& library, const std::string& name) {
  for (uint32_t k = 0; k < library.op_count; ++k)
    if (std::string(library.ops[k]->name_space) + "::" + library.ops[k]->name == name) return library.ops[k];
  expect(false, "there is no op " + name);
  return nullptr;
}

bool near(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (!(std::fabs(a[k] - b[k]) < 1e-5F)) return false;
  return true;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// ---- Checks
// ------------------------------------------------------------------------------------------------------------------------------

void check_cpp(const tenon_library& library) {
  expect(library.op_count == 2, "cpp_ops has two ops");
  const tenon_op& sum = *op_named(library, "fixture::ScaledSum");
  Object object(sum, TENON_BUILD, {field("factor", TENON_FIELD_F32, 2.0F)}, 1, 1);
  expect(object.status == TENON_OK, "ScaledSum is made");
  std::vector<std::vector<int64_t>> sizes(1);
  expect(object.infer({{-1, 3}}, sizes) == TENON_OK && sizes[0] == std::vector<int64_t>{-1}, "ScaledSum keeps an unknown size");
  expect(object.infer({{}}, sizes) == TENON_NOT_SUPPORTED && has(failure, "scalar"), "ScaledSum refuses a scalar: " + failure);
  std::vector<Value> x{{{2, 3}, {1, 2, 3, 4, 5, 6}}};
  Value y{{2}, {0, 0}}, again{{2}, {0, 0}};
  std::vector<tenon_tensor> results{y.view()};
  expect(object.run(x, results) == TENON_OK && near(y.data, {12, 30}), "ScaledSum computes: " + failure);
  Object loaded(sum, TENON_RUN, object.saved(), 1, 1);
  results = {again.view()};
  expect(loaded.run(x, results) == TENON_OK && again.data == y.data, "ScaledSum computes the same from what it saved");
  expect(Object(sum, TENON_BUILD, {}, 1, 1).status == TENON_BAD_FIELD && has(failure, "'factor' is missing"),
         "a field is missing: " + failure);

  const tenon_op& throws = *op_named(library, "fixture::Throws");
  expect(Object(throws, TENON_BUILD, {text("where", "create")}, 1, 1).status == TENON_FAILED && has(failure, "told to fail in create"),
         "an exception of a constructor: " + failure);
  Object in_infer(throws, TENON_BUILD, {text("where", "infer")}, 1, 1);
  expect(in_infer.infer({{2}}, sizes) == TENON_FAILED && has(failure, "told to fail in infer"), "of infer: " + failure);
  Object in_enqueue(throws, TENON_BUILD, {text("where", "enqueue")}, 1, 1);
  results = {y.view()};
  expect(in_enqueue.run(x, results) == TENON_FAILED && has(failure, "told to fail in enqueue"), "of a piece: " + failure);
  Object in_workspace(throws, TENON_BUILD, {text("where", "workspace")}, 1, 1);
  expect(in_workspace.run(x, results) == TENON_OUT_OF_MEMORY, "bad_alloc is a status of its own");
  Object number(throws, TENON_BUILD, {text("where", "number")}, 1, 1);
  expect(number.run(x, results) == TENON_FAILED && has(failure, "no std::exception"), "a number is thrown: " + failure);
}

void check_gemm(const tenon_library& library) {
  expect(library.op_count == 1 && has(logged, "Registered plugin creator Gemm version 1 in namespace tensorrt_llm"), "Gemm is registered");
  const tenon_op& gemm = *op_named(library, "tensorrt_llm::Gemm");
  expect(gemm.any_fields == 1 && gemm.field_count == 3 && std::string(gemm.fields[0]->name) == "transA", "Gemm advertises transA");
  const auto fields = [](int64_t transa, int64_t type) {
    return std::vector<Field>{field("transa", TENON_FIELD_I64, transa), field("transb", TENON_FIELD_I64, int64_t{1}),
                              field("type_id", TENON_FIELD_I32, static_cast<int32_t>(type))};
  };
  Object object(gemm, TENON_BUILD, fields(0, 0), 2, 1);
  expect(object.status == TENON_OK, "Gemm is made: " + failure);
  std::vector<std::vector<int64_t>> sizes(1);
  expect(object.infer({{-1, 3}, {4, 3}}, sizes) == TENON_OK && sizes[0] == std::vector<int64_t>{-1, 4}, "Gemm's dims: " + failure);
  const tenon_format formats[] = {{TENON_F32, TENON_ROW_MAJOR}, {TENON_F16, TENON_ROW_MAJOR}, {TENON_F32, TENON_ROW_MAJOR}};
  expect(gemm.supports(object.self, 0, formats, 3) == TENON_OK, "Gemm takes f32");
  expect(gemm.supports(object.self, 1, formats, 3) == TENON_NOT_SUPPORTED, "and no f16");

  std::vector<Value> ab{{{2, 3}, {1, 2, 3, 4, 5, 6}}, {{2, 3}, {1, 0, 1, 0, 1, 0}}};
  Value c{{2, 2}, std::vector<float>(4)}, again{{2, 2}, std::vector<float>(4)};
  std::vector<tenon_tensor> results{c.view()};
  expect(object.run(ab, results) == TENON_OK && near(c.data, {4, 2, 10, 5}), "Gemm computes: " + failure);
  const std::vector<Field> saved = object.saved();
  expect(saved.size() == 1 && saved[0].type == TENON_FIELD_BYTES && saved[0].length == 14, "Gemm keeps one field of 14 bytes");
  for (const uint32_t told : {1U, 0U}) {  // a host that tells how many operands and results there are, and one that does not
    Object loaded(gemm, TENON_RUN, saved, 2 * told, told);
    results = {again.view()};
    again.data.assign(4, 0);
    expect(loaded.run(ab, results) == TENON_OK && again.data == c.data, "Gemm computes the same from its bytes: " + failure);
  }
  for (const int64_t length : {0, 1, 13, 15, 100}) {
    std::vector<Field> other = saved;
    other[0].bytes.resize(static_cast<size_t>(length));
    other[0].length = length;
    const int32_t status = Object(gemm, TENON_RUN, other, 2, 1).status;
    expect(status != TENON_OK && has(failure, "Gemm") && has(failure, "tensorrt_llm") && has(failure, std::to_string(length)),
           "bytes of another length are an error: " + failure);
  }
  Object wrong(gemm, TENON_BUILD, fields(0, 1), 2, 1);
  expect(wrong.status == TENON_FAILED && has(failure, "creator 'Gemm'") && has(failure, "'tensorrt_llm'") && has(failure, "type_id 1"),
         "what a creator logs is the error: " + failure);
  Object missing(gemm, TENON_BUILD, {fields(0, 0)[0]}, 2, 1);
  expect(missing.status == TENON_FAILED && (has(failure, "'transb' is missing") || has(failure, "'type_id' is missing")),
         "a missing field is named: " + failure);
}

void check_v3(const tenon_library& library) {
  expect(library.op_count == 2, "two creators of the third generation");
  const tenon_op& swish = *op_named(library, "fixture::Swish");
  expect(swish.any_fields == 0 && swish.fields[0]->otherwise, "Swish declares beta, with a default");
  Object object(swish, TENON_BUILD, {field("beta", TENON_FIELD_F32, 1.5F)}, 1, 1);
  std::vector<std::vector<int64_t>> sizes(1);
  expect(object.infer({{-1, 2}}, sizes) == TENON_OK && sizes[0] == std::vector<int64_t>{-1, 2}, "Swish keeps dims: " + failure);
  std::vector<tenon_tactic> tactics(8);
  uint32_t count = 0;
  expect(swish.tactics(object.self, 8, tactics.data(), &count) == TENON_OK && count == 2 && tactics[1].id == 2, "Swish has two tactics");
  std::vector<Value> x{{{2, 2}, {-1, 0, 1, 2}}};
  std::vector<float> wanted;
  for (const float v : x[0].data) wanted.push_back(v / (1 + std::exp(-1.5F * v)));
  Object loaded(swish, TENON_RUN, object.saved(), 1, 1);
  for (const int32_t tactic : {0, 1, 2}) {
    Value y{{2, 2}, std::vector<float>(4)};
    std::vector<tenon_tensor> results{y.view()};
    expect(loaded.run(x, results, tactic) == TENON_OK && near(y.data, wanted), "Swish computes: " + failure);
  }
  expect(Object(swish, TENON_BUILD, {field("beta", TENON_FIELD_F32, INFINITY)}, 1, 1).status == TENON_FAILED &&
             has(failure, "creator 'Swish'") && has(failure, "'fixture'") && has(failure, "beta is not finite"),
         "what a creator logs is the error: " + failure);

  const tenon_op& values = *op_named(library, "fixture::NonZeroValues");
  Object sparse(values, TENON_BUILD, {}, 1, 2);
  sizes.resize(2);
  expect(sparse.infer({{2, 2}}, sizes) == TENON_OK && sizes[0] == std::vector<int64_t>{-1} && sizes[1].empty(),
         "sizes by data: " + failure);
  int64_t held = 0;
  for (const bool wanted_count : {true, false}) {
    std::vector<tenon_tensor> results{
        {sizeof(tenon_tensor), TENON_F32, 0, 0, nullptr, nullptr, nullptr},
        {sizeof(tenon_tensor), wanted_count ? TENON_I64 : TENON_NO_DTYPE, 0, 0, nullptr, nullptr, wanted_count ? &held : nullptr}};
    late = {};
    expect(sparse.run(x, results) == TENON_OK && late.sizes == std::vector<int64_t>{3} && near(late.data, {-1, 1, 2}),
           "values that are not 0: " + failure);
    expect(held == 3, "and how many");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const tenon_library* const cpp = opened(arguments[1]);
  const tenon_library* const gemm = opened(arguments[2]);
  const tenon_library* const swish = opened(arguments[3]);
  if (cpp && gemm && swish) {
    check_cpp(*cpp);
    check_gemm(*gemm);
    check_v3(*swish);
  }
  std::printf(failures ? "%d failed\n" : "all hold\n", failures);
  return failures ? 1 : 0;
}
