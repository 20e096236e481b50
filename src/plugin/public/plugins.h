// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The part of this folder that the compiler, the command line and the public interface use; they include no other header of it
/// (tools/check/floors.py). Ops, the run side and the backend of plugins use the headers below directly.

#include "plugin/embedded.h"                  // libraries of plugins inside an engine file
#include "plugin/host.h"                      // calls over the C interface, their errors
#include "plugin/layout/formats.h"            // types and layouts of operands that a kernel accepts
#include "plugin/layout/layout_conversion.h"  // an operand in another layout
#include "plugin/layout/transpose.h"
#include "plugin/measured_node.h"   // which kernels of a node were timed
#include "plugin/object.h"          // an instance of a plugin's op
#include "plugin/registry.h"        // ops of the libraries that were named
#include "plugin/registry_cache.h"  // registries that last as long as the process
#include "plugin/run/graph_calls.h"
#include "plugin/run/host_call.h"
#include "plugin/saved.h"            // a plugin's node as an engine stores it
#include "plugin/struct_versions.h"  // sizes of the C interface's records in earlier versions
#include "plugin/tensor_views.h"
