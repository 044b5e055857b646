"""The model context: which documents there are, what they registered, and the surfaces through which it is called.

Floor 2. Every fact about WebMCP and about what browsers make of it lives here; floor 3 builds `Page` on it.
"""

from pywebmcp.context._capabilities import Capabilities, capabilities_of
from pywebmcp.context._documents import Document, Registration, Registry, Run
from pywebmcp.context._script import build_script, random_identifier
from pywebmcp.context.surfaces import NativeSurface, PageSurface, RuntimeSurface

__all__ = [
    "Capabilities",
    "Document",
    "NativeSurface",
    "PageSurface",
    "Registration",
    "Registry",
    "Run",
    "RuntimeSurface",
    "build_script",
    "capabilities_of",
    "random_identifier",
]
