// SPDX-License-Identifier: Apache-2.0
// The functions of tenon_op for plugins in Python; each takes the GIL.
#include "plugins/python_op.h"

#include <cstring>
#include <map>

#include "plugins/guarded.h"
#include "plugins/infer.h"

namespace tenon::python {

namespace {

std::map<const tenon_host*, const PythonOp*>& ops_by_host() {
  static auto& out = *new std::map<const tenon_host*, const PythonOp*>;  // under the GIL
  return out;
}

/// An object of the plugin, as `create` and `attach` return it.
struct Instance {
  const PythonOp& op;
  const tenon_host* host;
  nb::object names;                ///< of the arguments by name: a tuple
  std::vector<nb::object> values;  ///< theirs
  std::vector<TensorSpec> operands, results = {};
  std::vector<PyObject*> arguments = {};  ///< of a call
};

template <class Number>
nb::object number(Number value, bool is_bool) {
  if (is_bool) return nb::bool_(value != 0);
  if constexpr (std::is_floating_point_v<Number>) return nb::float_(value);
  else return nb::int_(value);
}

template <class Number>
nb::object numbers(const tenon_field& field, const tenon_field_rule& rule, bool is_bool) {
  std::vector<Number> from(static_cast<size_t>(field.length));
  if (!from.empty()) std::memcpy(from.data(), field.data, from.size() * sizeof(Number));
  if (rule.length == 1) return number(from.at(0), is_bool);
  nb::list out;
  for (const Number n : from) out.append(number(n, is_bool));
  return nb::tuple(out);
}

nb::object value_of(const tenon_field& field, const tenon_field_rule& rule, bool is_bool) {
  if (field.type == TENON_FIELD_F32) return numbers<float>(field, rule, is_bool);
  if (field.type == TENON_FIELD_I64) return numbers<int64_t>(field, rule, is_bool);
  return nb::str(static_cast<const char*>(field.data), static_cast<size_t>(field.length));
}

int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  return guarded(host, [&] {
    const PythonOp& op = *ops_by_host().at(host);
    auto out = std::make_unique<Instance>(Instance{.op = op, .host = host, .names = {}, .values = {}, .operands = {}});
    nb::list names;
    for (size_t k = 0; k < op.fields.size(); ++k)
      for (uint32_t f = 0; f < node->field_count; ++f)
        if (std::string_view(node->fields[f]->name) == op.fields[k].name) {
          names.append(op.fields[k].name);
          out->values.push_back(value_of(*node->fields[f], op.fields[k], op.are_bools[k]));
        }
    if (op.takes_out) names.append("out");
    out->names = nb::tuple(names);
    *self = out.release();
  });
}

void destroy(void* self) {
  if (!nb::is_alive()) return;  // Python is gone, and with it what there is to destroy
  const nb::gil_scoped_acquire acquired;
  delete static_cast<Instance*>(self);
}

int32_t attach(void* self, void** attached) {
  const auto& from = *static_cast<const Instance*>(self);
  return guarded(from.host, [&] { *attached = new Instance(from); });
}

int32_t infer(void* self, tenon_inference* inference) {
  const auto& instance = *static_cast<const Instance*>(self);
  return guarded(inference->host, [&] { infer_results(instance.op, *inference); });
}

/// Writes the definition that the Python function returns for operands (tenon.Operand, None where one is missing) and fields.
int32_t write_definition(void* self, const tenon_definition* to) {
  const auto& instance = *static_cast<const Instance*>(self);
  return guarded(instance.host, [&] {
    nb::list operands = operands_of(instance.host, {to->operands, to->operand_count});
    for (size_t k = to->operand_count; k < instance.op.operands.size() && !instance.op.operands[k].variadic; ++k)
      operands.append(nb::none());
    nb::dict fields;
    for (size_t k = 0; k < instance.values.size(); ++k) fields[instance.names[k]] = instance.values[k];
    const nb::object text = instance.op.define(*nb::tuple(operands), **fields);
    if (!nb::isinstance<nb::str>(text)) throw nb::type_error("`definition` returned no text");
    if (to->write(to, nb::cast<std::string>(text).c_str()) != TENON_OK) throw nb::value_error("the text was not taken");
  });
}

/// Every operand as an array, for the time of a call.
class Call {
 public:
  Call(Instance& instance, const tenon_call& call) : instance_(instance), op_(instance.op), call_(call) {
    update(instance.operands, call.operands, call.operand_count);
    update(instance.results, call.results, call.result_count);
    views_.reserve(call.operand_count + call.result_count);
    for (uint32_t k = 0; k < call.operand_count; ++k) views_.emplace_back(instance.operands[k], call.operands[k]->data, op_.arrays, false);
    if (!op_.takes_out) return;
    for (uint32_t k = 0; k < call.result_count; ++k)
      if (is_late(*call.results[k]))
        throw nb::value_error("results whose sizes depend on data are returned: the function has no `out` then");
    for (uint32_t k = 0; k < call.result_count; ++k) views_.emplace_back(instance.results[k], call.results[k]->data, op_.arrays, true);
  }

  void run() {
    nb::object given = called();
    if (!op_.takes_out) copy_results(given);
    given.reset();
    if (!dropped()) {
      nb::module_::import_("gc").attr("collect")();  // an unreachable reference cycle may hold an array
      if (!dropped())
        throw nb::value_error("the function keeps an array of its call, whose memory is the engine's: it has to copy what it keeps");
    }
  }

 private:
  void update(std::vector<TensorSpec>& places, const tenon_tensor* const* tensors, uint32_t count) const {
    places.resize(count);
    for (uint32_t k = 0; k < count; ++k)
      if (!places[k].is_of(*tensors[k])) places[k] = tensor_spec_of(*tensors[k], op_.arrays);
  }

  nb::object called() {
    std::vector<PyObject*>& arguments = instance_.arguments;
    arguments.assign(1, nullptr);  // a place that the call may use
    for (uint32_t k = 0; k < call_.operand_count; ++k) arguments.push_back(views_[k].array().ptr());
    const size_t by_place = arguments.size() - 1;
    for (const nb::object& value : instance_.values) arguments.push_back(value.ptr());
    if (op_.takes_out) arguments.push_back((out_ = out()).ptr());
    nb::object given = nb::steal(
        nb::detail::vectorcall(op_.function.ptr(), arguments.data() + 1, by_place | NB_VECTORCALL_ARGUMENTS_OFFSET, instance_.names.ptr()));
    if (!given.is_valid()) throw nb::python_error();
    return given;
  }

  /// The result's array; a tuple of them where the op has several.
  nb::object out() const {
    if (op_.results.size() == 1) return views_[call_.operand_count].array();
    nb::list all;
    for (size_t k = call_.operand_count; k < views_.size(); ++k) all.append(views_[k].array());
    return nb::tuple(all);
  }

  void copy_results(nb::handle given) const {
    const bool one = op_.results.size() == 1;
    if (!one && (!PySequence_Check(given.ptr()) || nb::len(given) != op_.results.size()))
      throw nb::type_error(("the function returned no tuple of " + std::to_string(op_.results.size()) + " arrays").c_str());
    for (uint32_t k = 0; k < call_.result_count; ++k) {
      const nb::object value = one ? nb::borrow(given) : nb::object(given[k]);
      if (is_late(*call_.results[k])) copy_late(k, value);
      else copy_to(instance_.results[k], call_.results[k]->data, value, op_.arrays, op_.results[k].name);
    }
  }

  /// A scalar has one element, so that it always lies somewhere.
  static bool is_late(const tenon_tensor& result) { return result.dtype != TENON_NO_DTYPE && result.rank == 0 && !result.data; }

  /// The array gives the size of the result.
  void copy_late(uint32_t k, nb::handle value) const {
    const nb::object shape = nb::getattr(value, "shape", nb::none());
    if (!PySequence_Check(shape.ptr()))
      throw nb::type_error((std::string("result '") + op_.results[k].name + "' is no array, whose shape would be the result's").c_str());
    const auto sizes = nb::cast<std::vector<int64_t>>(nb::list(shape));
    void* data = nullptr;
    if (call_.set_sizes(&call_, k, static_cast<int32_t>(sizes.size()), sizes.data(), &data) != TENON_OK)
      throw nb::value_error((std::string("the sizes of result '") + op_.results[k].name + "' were not taken").c_str());
    tenon_tensor tensor = *call_.results[k];
    tensor.rank = static_cast<int32_t>(sizes.size());
    tensor.sizes = sizes.data();
    copy_to(tensor_spec_of(tensor, op_.arrays), data, value, op_.arrays, op_.results[k].name);
  }

  bool dropped() {
    out_.reset();
    bool all = true;
    for (ArrayView& view : views_) all &= view.release();
    return all;
  }

  Instance& instance_;
  const PythonOp& op_;
  const tenon_call& call_;
  std::vector<ArrayView> views_;
  nb::object out_;
};

int32_t enqueue(void* self, const tenon_call* call) {
  auto& instance = *static_cast<Instance*>(self);
  return guarded(call->host, [&] { Call(instance, *call).run(); });
}

}  // namespace

void PythonOp::known_as(const tenon_host* host) { ops_by_host()[host] = this; }

void PythonOp::fill_tables(bool infers) {
  for (const tenon_port& port : operands) operand_list.push_back(&port);
  for (const tenon_port& port : results) result_list.push_back(&port);
  for (const tenon_field_rule& rule : fields) field_list.push_back(&rule);
  op.struct_size = sizeof op;
  op.operand_count = static_cast<uint32_t>(operands.size());
  op.operands = operand_list.data();
  op.result_count = static_cast<uint32_t>(results.size());
  op.results = result_list.data();
  op.field_count = static_cast<uint32_t>(fields.size());
  op.fields = field_list.data();
  op.create = create;
  op.destroy = destroy;
  op.attach = attach;
  op.enqueue = enqueue;
  if (infers) op.infer = infer;
  if (define.is_valid()) op.define = write_definition;
  op.sample_count = static_cast<uint32_t>(sample_list.size());
  op.samples = sample_list.data();
  op_list = &op;
  library.struct_size = sizeof library;
  library.needs = 1;
  library.op_count = 1;
  library.ops = &op_list;
}

}  // namespace tenon::python
