// SPDX-License-Identifier: Apache-2.0
#include "plugins/infer.h"

#include <algorithm>

#include "plugins/sizes.h"

namespace tenon::python {

namespace {

/// None where the operand is missing, or its rank is not known.
nb::object shape_of(const tenon_host* host, const tenon_type& type) {
  if (type.dtype == TENON_NO_DTYPE || type.rank < 0) return nb::none();
  nb::list sizes;
  for (int32_t axis = 0; axis < type.rank; ++axis) sizes.append(size_of(host, type.sizes[axis]));
  return nb::tuple(sizes);
}

void take_shape(const tenon_inference& inference, nb::handle shape, tenon_type& result) {
  if (!PySequence_Check(shape.ptr()))
    throw nb::type_error(("a shape is a tuple of sizes, not " + std::string(nb::type_name(shape.type()).c_str())).c_str());
  const size_t rank = nb::len(shape);
  if (rank > TENON_MAX_RANK) throw nb::value_error("a shape has at most 16 sizes");
  result.rank = static_cast<int32_t>(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const nb::object size = shape[axis];
    DataDependentSize late;
    if (!nb::try_cast(size, late)) result.sizes[axis] = dim_of(inference.host, size);
    else result.sizes[axis] = inference.sized_by_data(&inference, dim_of(inference.host, late.most));
  }
}

void shapes_by_function(const PythonOp& op, const tenon_inference& inference) {
  nb::list shapes;
  for (uint32_t k = 0; k < inference.operand_count; ++k) shapes.append(shape_of(inference.host, *inference.operands[k]));
  for (size_t k = inference.operand_count; k < op.operands.size() && !op.operands[k].variadic; ++k) shapes.append(nb::none());
  const nb::object given = op.shape(*nb::tuple(shapes));
  const bool one = op.results.size() == 1;
  if (!one && (!PySequence_Check(given.ptr()) || nb::len(given) != op.results.size()))
    throw nb::type_error(("`shape` returned no tuple of " + std::to_string(op.results.size()) + " shapes").c_str());
  for (uint32_t k = 0; k < inference.result_count; ++k) take_shape(inference, one ? given : nb::object(given[k]), *inference.results[k]);
}

void shapes_of_operand(const tenon_inference& inference) {
  const tenon_type& x = *inference.operands[0];
  if (x.rank < 0) throw nb::value_error("the rank of operand 0 is not known: `shape` has to give those of results");
  for (uint32_t k = 0; k < inference.result_count; ++k) {
    inference.results[k]->rank = x.rank;
    std::copy_n(x.sizes, x.rank, inference.results[k]->sizes);
  }
}

}  // namespace

nb::list operands_of(const tenon_host* host, std::span<const tenon_type* const> types) {
  const nb::object operand = nb::module_::import_("tenon._plugins").attr("Operand");
  nb::list out;
  for (const tenon_type* type : types) {
    if (type->dtype == TENON_NO_DTYPE) out.append(nb::none());
    else out.append(operand(nb::str(name_of(static_cast<DType>(type->dtype)).data()), shape_of(host, *type)));
  }
  return out;
}

void infer_results(const PythonOp& op, const tenon_inference& inference) {
  if (op.shape.is_valid()) shapes_by_function(op, inference);
  else shapes_of_operand(inference);
  for (uint32_t k = 0; k < inference.result_count; ++k)
    inference.results[k]->dtype = op.dtypes[k] != TENON_NO_DTYPE ? op.dtypes[k] : inference.operands[0]->dtype;
}

}  // namespace tenon::python
