// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::rewrite {

/// Sets a graph's listener until the scope ends, however it ends; then the listener before it is set again.
class ListenerScope {
 public:
  ListenerScope(ir::Graph& graph, ir::Listener* listener) : graph_(graph), outer_(graph.listener()) { graph.set_listener(listener); }
  ~ListenerScope() { graph_.set_listener(outer_); }
  ListenerScope(const ListenerScope&) = delete;
  ListenerScope& operator=(const ListenerScope&) = delete;

 private:
  ir::Graph& graph_;
  ir::Listener* outer_;
};

}  // namespace tenon::rewrite
