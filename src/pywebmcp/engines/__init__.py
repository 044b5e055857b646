"""Engines: finding browsers, starting them, and making sure that they end with us.

`start_lightpanda` and `start_chromium` return a `RunningEngine` at once; ``await engine.ready()`` gives the
`Endpoint` that `pywebmcp.wire.connect` takes. `resolve_endpoint` does the same for a browser that already runs.
Modules are loaded at their first use, so that starting one engine does not pay for the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pywebmcp.engines._chromium import ChromiumEngine, ChromiumOptions, start_chromium
    from pywebmcp.engines._endpoint import identify, resolve_endpoint
    from pywebmcp.engines._find import find_chromium, find_lightpanda
    from pywebmcp.engines._folders import sweep
    from pywebmcp.engines._lightpanda import LightpandaEngine, LightpandaOptions, start_lightpanda
    from pywebmcp.engines._running import Endpoint, RunningEngine

__all__ = [
    "ChromiumEngine",
    "ChromiumOptions",
    "Endpoint",
    "LightpandaEngine",
    "LightpandaOptions",
    "RunningEngine",
    "find_chromium",
    "find_lightpanda",
    "identify",
    "resolve_endpoint",
    "start_chromium",
    "start_lightpanda",
    "sweep",
]

_HOMES = {
    "ChromiumEngine": "_chromium",
    "ChromiumOptions": "_chromium",
    "Endpoint": "_running",
    "LightpandaEngine": "_lightpanda",
    "LightpandaOptions": "_lightpanda",
    "RunningEngine": "_running",
    "find_chromium": "_find",
    "find_lightpanda": "_find",
    "identify": "_endpoint",
    "resolve_endpoint": "_endpoint",
    "start_chromium": "_chromium",
    "start_lightpanda": "_lightpanda",
    "sweep": "_folders",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
