/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of an op that exists: ONNX's DFT of f32, forward and both-sided along the axis before the last, by KissFFT.
 *
 *   cc -O2 -shared -fPIC -Iinclude kiss_dft.c -o kiss_dft.so -lkissfft-float
 *   tenon build model.onnx --plugin ./kiss_dft.so --prefer kiss::DFT -o model.tenon
 */
#include <kissfft/kiss_fft.h>
#include <stdlib.h>
#include <tenon/plugin.h>

struct dft {
  kiss_fft_cfg plan;
  int64_t length;
};

static int32_t create(const tenon_host* host, const tenon_node* node, void** self) {
  for (uint32_t k = 0; k < node->field_count; ++k)
    if (node->fields[k]->type == TENON_FIELD_I64 && *(const int64_t*)node->fields[k]->data != 0)
      return host->fail(host, TENON_NOT_SUPPORTED, "KissFFT runs DFT forward and both-sided alone");
  *self = calloc(1, sizeof(struct dft));
  return *self ? TENON_OK : host->fail(host, TENON_OUT_OF_MEMORY, "no memory for an object");
}

static void destroy(void* self) {
  kiss_fft_free(((struct dft*)self)->plan);
  free(self);
}

static int32_t attach(void* self, void** attached) {
  (void)self;
  *attached = calloc(1, sizeof(struct dft));
  return *attached ? TENON_OK : TENON_OUT_OF_MEMORY;
}

/* Operands: input, dft_length, axis, of which the last ones may be missing; result: output. */
static int32_t supports(void* self, uint32_t position, const tenon_format* formats, uint32_t count) {
  (void)self;
  const int32_t dtype = formats[position].dtype;
  const int is_operand = position + 1 < count;
  if (is_operand && position == 1) return dtype == TENON_NO_DTYPE ? TENON_OK : TENON_NOT_SUPPORTED; /* its own length */
  if (is_operand && position == 2) return dtype == TENON_NO_DTYPE || dtype == TENON_I64 ? TENON_OK : TENON_NOT_SUPPORTED;
  return dtype == TENON_F32 && formats[position].layout == TENON_ROW_MAJOR ? TENON_OK : TENON_NOT_SUPPORTED;
}

static int32_t shapes_changed(void* self, const tenon_tensor* const* operands, const tenon_tensor* const* results) {
  struct dft* const dft = self;
  (void)results;
  const int64_t length = operands[0]->sizes[operands[0]->rank - 2];
  if (length == dft->length || length == 0) return TENON_OK; /* KissFFT has no plan of length 0 */
  kiss_fft_free(dft->plan);
  dft->plan = kiss_fft_alloc((int)length, 0, NULL, NULL);
  dft->length = length;
  return dft->plan ? TENON_OK : TENON_OUT_OF_MEMORY;
}

static int32_t enqueue(void* self, const tenon_call* call) {
  const struct dft* const dft = self;
  const tenon_tensor* const x = call->operands[0];
  const int64_t parts = x->sizes[x->rank - 1], length = x->sizes[x->rank - 2];
  if (call->operand_count > 2 && call->operands[2]->dtype != TENON_NO_DTYPE) {
    const int64_t axis = *(const int64_t*)call->operands[2]->data;
    if (axis != -2 && axis != x->rank - 2)
      return call->host->fail(call->host, TENON_NOT_SUPPORTED, "KissFFT runs along the axis before the last");
  }
  int64_t rows = 1;
  for (int32_t axis = 0; axis + 2 < x->rank; ++axis) rows *= x->sizes[axis];
  if (length == 0) return TENON_OK;
  kiss_fft_cpx* const to = call->results[0]->data;
  if (parts == 2) {
    for (int64_t row = 0; row < rows; ++row) kiss_fft(dft->plan, (const kiss_fft_cpx*)x->data + row * length, to + row * length);
    return TENON_OK;
  }
  kiss_fft_cpx* const complex_row = call->workspace;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < length; ++k) complex_row[k] = (kiss_fft_cpx){((const float*)x->data)[row * length + k], 0};
    kiss_fft(dft->plan, complex_row, to + row * length);
  }
  return TENON_OK;
}

static int32_t workspace(void* self, const tenon_tensor* const* operands, const tenon_tensor* const* results, uint64_t* bytes) {
  (void)self;
  (void)results;
  *bytes = (uint64_t)operands[0]->sizes[operands[0]->rank - 2] * sizeof(kiss_fft_cpx);
  return TENON_OK;
}

static const tenon_op kDft = {.struct_size = sizeof(tenon_op),
                              .name_space = "kiss",
                              .name = "DFT",
                              .version = "1",
                              .docs = "the discrete Fourier transform, by KissFFT",
                              .kernel_of = "DFT",
                              .create = create,
                              .destroy = destroy,
                              .supports = supports,
                              .workspace = workspace,
                              .attach = attach,
                              .shapes_changed = shapes_changed,
                              .enqueue = enqueue};
static const tenon_op* const kOps[] = {&kDft};
static const tenon_library kLibrary = {.struct_size = sizeof(tenon_library), .needs = 1, .name = "kiss_dft", .op_count = 1, .ops = kOps};

const tenon_library* tenon_plugin_library(const tenon_host* host) {
  (void)host;
  return &kLibrary;
}
