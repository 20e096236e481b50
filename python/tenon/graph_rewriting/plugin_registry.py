# SPDX-License-Identifier: Apache-2.0
"""The creators of this process: libraries of TENON_PLUGINS and of `load_library`, functions of @tenon.plugin, and Tenon's own ops."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike

from .._tenon import _open_plugins, _plugin_ops
from .op_creators import op_creators
from .plugins import PluginCreator


class PluginRegistry:
    """The plugins of the process."""

    @property
    def all_creators(self) -> list[PluginCreator]:
        """Those of libraries and functions, then Tenon's own, but for keys that a library has."""
        brought = [PluginCreator(op) for op in _plugin_ops()]
        keys = {(c.name, c.plugin_version, c.plugin_namespace) for c in brought}
        return brought + [c for c in op_creators() if (c.name, c.plugin_version, c.plugin_namespace) not in keys]

    @property
    def plugin_creator_list(self) -> list[PluginCreator]:
        return self.all_creators

    def get_creator(self, type: str, version: str, plugin_namespace: str = "") -> PluginCreator | None:
        """None: there is none. An empty namespace is a namespace too."""
        named = (c for c in self.all_creators if (c.name, c.plugin_version) == (type, version))
        return next((c for c in named if plugin_namespace in (c.plugin_namespace, c.domain)), None)

    get_plugin_creator = get_creator

    def load_library(self, plugin_path: str | PathLike[str]) -> str:
        """Opens a library of plugins for the rest of the process: networks, and engines that are compiled or loaded, have its ops from then
        on. Raises TenonError, and nothing is opened, where one of its ops is another library's."""
        _open_plugins(plugin_path)
        return str(plugin_path)

    def __iter__(self) -> Iterator[PluginCreator]:
        return iter(self.all_creators)


_registry = PluginRegistry()


def get_plugin_registry() -> PluginRegistry:
    return _registry
