// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace tenon_python {

/// Writes `text` to the logger "tenon" at INFO. Takes the GIL; exceptions of handlers are ignored, except KeyboardInterrupt, which
/// is raised when Python code runs again.
void write_log(const std::string& text);
/// Whether a handler takes such messages. Needs the GIL. Cost: a call of Python.
bool is_logging();
/// Logs the steps of `what` ("compile model.onnx") as they begin; an empty function where no handler takes the messages. Needs the GIL.
std::function<void(std::string_view)> step_logger(const std::string& what);

}  // namespace tenon_python
