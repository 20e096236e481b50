/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of plugins: ops from outside, in one shared library that exports one symbol,
 *
 *     const tenon_library* tenon_plugin_library(const tenon_host* host);
 *
 * C11 and C++11. A library needs no symbol of Tenon: what it calls is in the host's table.
 *
 * How it may grow: every struct starts with its size as its maker knew it, fields are only added at the end, and a field after that size
 * is taken for 0. Lists hold pointers, so that a struct that grows moves nothing. A library states the lowest version that it needs.
 *
 * What holds for every function of a library: it returns TENON_OK, or another status after a call of host->fail with a text; it may throw
 * nothing; it may be called from several threads at once, but never twice at once for one object. Texts are UTF-8 and end with 0. What a
 * function is given is valid until it returns; what a library gives lives until the library is closed, which is at the end of the process.
 */
#ifndef TENON_PLUGIN_H
#define TENON_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header. 1: the first. */
#define TENON_PLUGIN_VERSION 1
/* Most dimensions of a tensor. */
#define TENON_MAX_RANK 16

typedef enum tenon_status {
  TENON_OK = 0,
  TENON_FAILED = 1,
  TENON_NOT_SUPPORTED = 2, /* this case, with these types or shapes; another one may be */
  TENON_BAD_FIELD = 3,
  TENON_OUT_OF_MEMORY = 4,
  TENON_STOPPED = 5 /* the run was cancelled or ran out of time, see tenon_call::stopped */
} tenon_status;

typedef enum tenon_severity { TENON_LOG_ERROR = 1, TENON_LOG_WARNING = 2, TENON_LOG_INFO = 3, TENON_LOG_VERBOSE = 4 } tenon_severity;

/* Element types, numbered as in ONNX. */
typedef enum tenon_dtype {
  TENON_NO_DTYPE = 0,
  TENON_F32 = 1,
  TENON_U8 = 2,
  TENON_I8 = 3,
  TENON_U16 = 4,
  TENON_I16 = 5,
  TENON_I32 = 6,
  TENON_I64 = 7,
  TENON_BOOL = 9,
  TENON_F16 = 10,
  TENON_F64 = 11,
  TENON_U32 = 12,
  TENON_U64 = 13,
  TENON_BF16 = 16,
  TENON_F8E4M3 = 17
} tenon_dtype;
/* A set of element types: one bit each. 0: any. */
#define TENON_DTYPE_BIT(dtype) (UINT32_C(1) << (dtype))

/* How elements lie in memory. */
typedef enum tenon_layout {
  TENON_ROW_MAJOR = 0,
  TENON_CHANNELS_LAST = 1, /* sizes are given as [n, c, ...]; c is innermost in memory */
  TENON_STRIDED = 2        /* as the strides say */
} tenon_layout;

typedef struct tenon_host tenon_host;
typedef struct tenon_library tenon_library;

/* ---- Sizes that are not known yet -------------------------------------------------------------------------------------------------- */

/* A size: a number, or a polynomial over sizes that are known when the model runs ("seq", "2*n + 1"). Made and read by the host alone,
 * valid until the function returns that was given it or asked for it. */
typedef uint64_t tenon_dim;

typedef enum tenon_dim_operation {
  TENON_ADD = 0,
  TENON_SUBTRACT = 1,
  TENON_MULTIPLY = 2,
  TENON_FLOOR_DIVIDE = 3,
  TENON_CEIL_DIVIDE = 4,
  TENON_MIN = 5,
  TENON_MAX = 6,
  TENON_EQUAL = 7, /* 1 or 0; fails where nobody can tell yet, as TENON_LESS does */
  TENON_LESS = 8
} tenon_dim_operation;

/* ---- Tensors ----------------------------------------------------------------------------------------------------------------------- */

/* A tensor of known sizes. */
typedef struct tenon_tensor {
  size_t struct_size;
  int32_t dtype;  /* tenon_dtype; TENON_NO_DTYPE: an optional operand that is missing, or a result that is not requested */
  int32_t layout; /* tenon_layout */
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides; /* in elements; null: row-major */
  void* data;             /* null where only the shape is asked about */
} tenon_tensor;

/* The type of a value before the model runs. */
typedef struct tenon_type {
  size_t struct_size;
  int32_t dtype;
  int32_t rank;                 /* -1: not known */
  tenon_dim* sizes;             /* of an operand: `rank` of them; of a result: room for TENON_MAX_RANK */
  uint64_t data_count;          /* of an operand: how many elements are known before the model runs ("shape data"); 0: none */
  const tenon_dim* data;        /* those of a small integer or bool tensor */
  const tenon_tensor* constant; /* an operand's value where it is a small constant; else null */
} tenon_type;

/* ---- Fields: what attributes of a node say, and what a plugin keeps in an engine ----------------------------------------------------- */

/* Types of the elements of a field, numbered as TensorRT's PluginFieldType. */
typedef enum tenon_field_type {
  TENON_FIELD_F16 = 0,
  TENON_FIELD_F32 = 1,
  TENON_FIELD_F64 = 2,
  TENON_FIELD_I8 = 3,
  TENON_FIELD_I16 = 4,
  TENON_FIELD_I32 = 5,
  TENON_FIELD_CHAR = 6, /* a text; its length does not count a 0 at the end */
  TENON_FIELD_DIMS = 7, /* tensor shapes: each an int32 count, then eight int64 sizes */
  TENON_FIELD_BYTES = 8,
  TENON_FIELD_BF16 = 9,
  TENON_FIELD_I64 = 10,
  TENON_FIELD_FP8 = 11,
  TENON_FIELD_I4 = 12, /* two a byte, the lower half first; as TENON_FIELD_FP4 */
  TENON_FIELD_FP4 = 13
} tenon_field_type;

/* A field that has a value. */
typedef struct tenon_field {
  size_t struct_size;
  const char* name;
  int32_t type;   /* tenon_field_type */
  int64_t length; /* in elements */
  const void* data;
} tenon_field;

/* A field as an op declares it. */
typedef struct tenon_field_rule {
  size_t struct_size;
  const char* name;
  int32_t type;
  int64_t length;        /* -1: any; else how many elements; 1: a scalar */
  const void* otherwise; /* `length` elements (a text where the type is TENON_FIELD_CHAR) that hold where the node says nothing; null: the
                            field must be given, unless it is `optional` */
  int32_t has_range;     /* 1: elements are numbers from `least` to `most` */
  double least, most;
  const char* const* choices; /* of texts: those that are allowed, with a null after the last; null: any */
  const char* docs;
  int32_t optional; /* 1: where there is no `otherwise` and the node says nothing, `create` is not given it */
} tenon_field_rule;

/* ---- Ops --------------------------------------------------------------------------------------------------------------------------- */

typedef struct tenon_port {
  size_t struct_size;
  const char* name;
  uint32_t dtypes;  /* TENON_DTYPE_BIT of those that it may have; 0: any */
  int32_t optional; /* 1: may be missing */
  int32_t variadic; /* 1, of the last port only: any number of them, at least one */
  int32_t in_place; /* of a result: 1 + the operand whose memory it may take, which is not read by others afterwards; 0: none */
} tenon_port;

/* Whom the object is made for. */
typedef enum tenon_phase {
  TENON_BUILD = 0, /* fields are the node's, with defaults filled in */
  TENON_RUN = 1    /* fields are those that `save` gave; the node's where there is no `save` */
} tenon_phase;

typedef struct tenon_node {
  size_t struct_size;
  int32_t phase;
  const char* name; /* of the node, for messages */
  uint32_t field_count;
  const tenon_field* const* fields;
  uint32_t operand_count, result_count; /* of the node, those that are missing too */
} tenon_node;

/* Types of a node's operands and results. */
typedef struct tenon_inference {
  size_t struct_size;
  const tenon_host* host;
  uint32_t operand_count;
  const tenon_type* const* operands;
  uint32_t result_count;
  tenon_type* const* results; /* to be filled: dtype, rank, sizes */
  /* A size that is known only when the op has run, of at most `most`; see tenon_call::set_sizes. */
  tenon_dim (*sized_by_data)(const struct tenon_inference* inference, tenon_dim most);
} tenon_inference;

/* One choice of types and layouts: of each operand, then of each result. */
typedef struct tenon_format {
  int32_t dtype, layout;
} tenon_format;

/* Sizes that runs may have, of each operand; of one that is missing, or whose rank is not known, dtype is TENON_NO_DTYPE. A most of -1: no
 * limit is known. */
typedef struct tenon_ranges {
  size_t struct_size;
  uint32_t operand_count;
  const tenon_tensor* const* least;
  const tenon_tensor* const* usual;
  const tenon_tensor* const* most;
} tenon_ranges;

typedef struct tenon_tactic {
  int32_t id; /* from 1; 0 is the plugin's own choice */
  const char* name;
} tenon_tactic;

/* One run. */
typedef struct tenon_call {
  size_t struct_size;
  const tenon_host* host;
  uint32_t operand_count;
  const tenon_tensor* const* operands;
  uint32_t result_count;
  const tenon_tensor* const* results; /* data: where the elements go; null for a result of data-dependent shape, see set_sizes */
  void* workspace;                    /* 64-byte aligned, as many bytes as `workspace` asked for */
  int32_t tactic;                     /* tenon_tactic::id; 0: the plugin's own choice */
  int32_t threads;                    /* that parallel_for may use */
  /* Runs body over [0, count) in pieces of at least `grain`, on the engine's threads; returns when all are done. thread: below `threads`.
   */
  int32_t (*parallel_for)(const struct tenon_call* call, int64_t count, int64_t grain,
                          void (*body)(void* argument, int64_t begin, int64_t end, int32_t thread), void* argument);
  /* 1: the run is cancelled; return TENON_STOPPED soon. */
  int32_t (*stopped)(const struct tenon_call* call);
  /* The sizes of a result of data-dependent shape, once they are known; gives the memory of its elements. */
  int32_t (*set_sizes)(const struct tenon_call* call, uint32_t result, int32_t rank, const int64_t* sizes, void** data);
  /* Runs an inner graph (tenon_graphs::add) on the engine's threads. operands, results: as many as the graph has, row-major, of its dtypes
   * and of sizes that it takes; results are written where they point, which is neither in an operand nor in another result. From one thread
   * at a time, outside of parallel_for. Allocates nothing once it has seen the sizes. */
  int32_t (*run_graph)(const struct tenon_call* call, uint32_t graph, const tenon_tensor* const* operands,
                       const tenon_tensor* const* results);
  void* host_data;
  /* How many operands and results an inner graph has. */
  int32_t (*graph_ports)(const struct tenon_call* call, uint32_t graph, uint32_t* operands, uint32_t* results);
} tenon_call;

/* Takes the fields that an engine keeps. Copies what it is given. */
typedef struct tenon_saver {
  size_t struct_size;
  int32_t (*put)(const struct tenon_saver* saver, const tenon_field* field);
  void* host_data;
} tenon_saver;

/* Graphs that are compiled with the model and that a plugin's `enqueue` may call. */
typedef struct tenon_graphs {
  size_t struct_size;
  /* text: a graph in Tenon's text form, of fixed sizes or of symbols; it is copied. What is wrong with it is an error of the build.
   * number: what tenon_call::run_graph takes, of this node: 0, 1, ... in the order of these calls. */
  int32_t (*add)(const struct tenon_graphs* graphs, const char* text, uint32_t* number);
  void* host_data;
  /* As `add`, of a text that has constants beside it: `const w: f32[768,3072] = @1` is constants[1]. What `constant` gave is used as it is,
   * other tensors are copied. */
  int32_t (*add_with)(const struct tenon_graphs* graphs, const char* text, uint32_t count, const tenon_tensor* const* constants,
                      uint32_t* number);
  /* The value of an operand of the node that is a constant, of any size: row-major, valid until add_graphs returns. dtype TENON_NO_DTYPE:
   * it is known only when the model runs. value->struct_size is given. */
  int32_t (*constant)(const struct tenon_graphs* graphs, uint32_t operand, tenon_tensor* value);
} tenon_graphs;

/* What is shared by objects of a library, by key: made for the first user, destroyed with the last one. */
typedef struct tenon_resource {
  size_t struct_size;
  int32_t (*make)(void* argument, void** resource);
  void (*destroy)(void* resource);
  void* argument;
} tenon_resource;

/* What a definition is written to: text in Tenon's graph form, or as tenon_op::expression has it. */
typedef struct tenon_definition {
  size_t struct_size;
  const tenon_node* node;
  uint32_t operand_count;
  const tenon_type* const* operands;
  int32_t (*write)(const struct tenon_definition* definition, const char* text);
  void* host_data;
} tenon_definition;

/* One op. An op must have: a definition (`expression` or `define`), or else `create`, `infer` and `enqueue`. Functions that are null mean
 * what is beside them. `self` is what `create` or `attach` made. */
typedef struct tenon_op {
  size_t struct_size;
  const char* name_space; /* "acme"; a domain of ONNX. Whoever loads the library may give it another one. */
  const char* name;
  const char* version; /* "1" */
  const char* docs;    /* one sentence; may be null */
  uint32_t operand_count;
  const tenon_port* const* operands;
  uint32_t result_count;
  const tenon_port* const* results;
  uint32_t field_count;
  const tenon_field_rule* const* fields;
  /* Cases to try it with: "f32[2,3], i64[2] = [1, 0], _; axis=1". */
  uint32_t sample_count;
  const char* const* samples;
  /* What it computes, in ops of ONNX over its operands and fields by name: "Mul(x, Sigmoid(Mul(x, beta)))". An operand of any number stands
   * for all of them, "Concat(xs, axis=axis)"; lists are tensors, "Reshape(x, [rows, -1])"; a field that is left out leaves out what it was
   * to be. */
  const char* expression;
  /* The name of an op that exists: this is one more kernel of it. Operands, results and fields are that op's; all lists here are empty. */
  const char* kernel_of;
  int32_t has_effects; /* 1: its runs keep their order, and none is left out */
  int32_t is_random;   /* 1: equal operands may give other results */
  int32_t reserved;

  int32_t (*create)(const tenon_host* host, const tenon_node* node, void** self); /* null: self is null */
  void (*destroy)(void* self);
  /* null: results have the types that the definition gives. */
  int32_t (*infer)(void* self, tenon_inference* inference);
  /* As `expression`, which depends on fields and types: writes a graph of the node's operands and results, or an expression. */
  int32_t (*define)(void* self, const tenon_definition* definition);
  /* Whether `enqueue` takes format `position` together with those before it; it may look at no later one. null: row-major, and the dtypes
   * that the ports allow. */
  int32_t (*supports)(void* self, uint32_t position, const tenon_format* formats, uint32_t count);
  /* The sizes that runs may have, while a model is built. */
  int32_t (*configure)(void* self, const tenon_ranges* ranges);
  /* Other ways to compute it, of which a build that measures takes the fastest. tactics: room for `room` of them. null: none. */
  int32_t (*tactics)(void* self, uint32_t room, tenon_tactic* tactics, uint32_t* count);
  /* Bytes that a run of these shapes, or of smaller ones, needs. null: none. */
  int32_t (*workspace)(void* self, const tenon_tensor* const* operands, const tenon_tensor* const* results, uint64_t* bytes);
  /* What an engine keeps. null: the node's fields. */
  int32_t (*save)(void* self, const tenon_saver* saver);
  /* Graphs that `enqueue` calls, while a model is built; before `save`. Again they must be the same. null: none. */
  int32_t (*add_graphs)(void* self, const tenon_graphs* graphs);
  /* An object of its own for one context, which runs in one thread at a time; destroyed with `destroy`. null: contexts share self, which
   * several threads then enter at once. */
  int32_t (*attach)(void* self, void** attached);
  /* Sizes for the next runs, where they are new. */
  int32_t (*shapes_changed)(void* self, const tenon_tensor* const* operands, const tenon_tensor* const* results);
  /* null: the definition is compiled like any other ops. */
  int32_t (*enqueue)(void* self, const tenon_call* call);
  /* 1: attributes that `fields` does not name reach `create` too: numbers as TENON_FIELD_I64 or TENON_FIELD_F32, texts, and tensors as
   * fields of their type (TENON_FIELD_BYTES where there is none). */
  int32_t any_fields;
} tenon_op;

struct tenon_library {
  size_t struct_size;
  uint32_t needs;      /* lowest TENON_PLUGIN_VERSION that it runs with */
  const char* name;    /* may be null: the file's name */
  const char* version; /* may be null */
  uint32_t op_count;
  const tenon_op* const* ops;
};

/* ---- The host ---------------------------------------------------------------------------------------------------------------------- */

struct tenon_host {
  size_t struct_size;
  uint32_t version; /* TENON_PLUGIN_VERSION of the host */
  void (*log)(const tenon_host* host, int32_t severity, const char* text);
  /* Keeps the text of an error, of the calling thread, and returns `status`: return host->fail(host, TENON_FAILED, "..."); */
  int32_t (*fail)(const tenon_host* host, int32_t status, const char* text);
  tenon_dim (*dim)(const tenon_host* host, int64_t number);
  /* Errors: a size that outgrows 62 bits, a division by 0; the result is then a size that equals none. */
  tenon_dim (*dim_of)(const tenon_host* host, int32_t operation, tenon_dim a, tenon_dim b);
  /* 1: *number is set. */
  int32_t (*dim_number)(const tenon_host* host, tenon_dim dim, int64_t* number);
  /* The resource of that key, of this library; counts up. Errors: what `make` returns. */
  int32_t (*acquire)(const tenon_host* host, const char* key, const tenon_resource* maker, void** resource);
  /* Counts down. Errors: a key that nobody holds. */
  int32_t (*release)(const tenon_host* host, const char* key);
};

/* What a library exports; null after a call of host->fail where it cannot run here. `host` lives as long as the process. */
#if defined(_WIN32)
#define TENON_EXPORT __declspec(dllexport)
#else
#define TENON_EXPORT __attribute__((visibility("default")))
#endif
TENON_EXPORT const tenon_library* tenon_plugin_library(const tenon_host* host);

#ifdef __cplusplus
}
#endif
#endif
