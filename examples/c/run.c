/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the engine that is its argument (examples/mlp.onnx, built) and runs it. With Tenon installed in DIR:
 *
 *     cc -std=c11 -I DIR/include run.c -L DIR/lib -ltenon_run -Wl,-rpath,DIR/lib -o run
 */
#include <stdio.h>
#include <tenon/runtime.h>

static int32_t run(const char* path, tenon_engine** engine, tenon_context** context, tenon_error** error) {
  float x[3 * 16], y[3 * 10];
  for (int i = 0; i < 3 * 16; ++i) x[i] = 0.5F;
  const int64_t x_shape[] = {3, 16}, y_shape[] = {3, 10};
  const tenon_array input = {
      .struct_size = sizeof input, .name = "x", .dtype = TENON_DTYPE_F32, .rank = 2, .shape = x_shape, .data = x, .bytes = sizeof x};
  const tenon_array output = {
      .struct_size = sizeof output, .name = "y", .dtype = TENON_DTYPE_F32, .rank = 2, .shape = y_shape, .data = y, .bytes = sizeof y};

  int32_t code = tenon_engine_load(path, NULL, engine, error);
  if (code == TENON_CODE_OK) code = tenon_context_create(*engine, NULL, context, error);
  if (code == TENON_CODE_OK) code = tenon_context_run(*context, NULL, &input, 1, &output, 1, NULL, error);
  if (code == TENON_CODE_OK) printf("y[0] = %.4f\n", y[0]);
  return code;
}

int main(int argc, char** argv) {
  tenon_engine* engine = NULL;
  tenon_context* context = NULL;
  tenon_error* error = NULL;
  const int32_t code = run(argc > 1 ? argv[1] : "mlp.tenon", &engine, &context, &error);
  if (code != TENON_CODE_OK) fprintf(stderr, "%s\n", tenon_error_text(error));
  tenon_error_free(error);
  tenon_context_free(context);
  tenon_engine_free(engine);
  return code == TENON_CODE_OK ? 0 : 1;
}
