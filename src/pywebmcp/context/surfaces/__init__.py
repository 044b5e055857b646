"""The ways in which a document exposes its tools; each file is one way, and the only code that knows it."""

from pywebmcp.context.surfaces._native import NativeSurface
from pywebmcp.context.surfaces._page import PageSurface
from pywebmcp.context.surfaces._runtime import RuntimeSurface

__all__ = ["NativeSurface", "PageSurface", "RuntimeSurface"]
