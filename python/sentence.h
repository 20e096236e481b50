// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nanobind/nanobind.h>

#include <string>

namespace tenon::python {

/// str(object); empty where that fails.
std::string text_of(nanobind::handle object);
/// An exception with its location as text: "ValueError: no such axis (rules.py:12)".
std::string sentence_of(nanobind::handle error);

}  // namespace tenon::python
