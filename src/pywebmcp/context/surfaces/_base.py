"""What all surfaces share: reading the members of a registration that somebody else wrote."""

from __future__ import annotations

from typing import Any

from pywebmcp.types import ToolAnnotations

__all__ = ["annotations_from", "text_or_none"]


def text_or_none(value: object) -> str | None:
    """The text, or None for an empty one and for anything else."""
    return value if isinstance(value, str) and value else None


def annotations_from(value: object) -> ToolAnnotations | None:
    """Annotations under the standard's names (page, runtime) or CDP's (``readOnly`` …); None when none were given."""
    if not isinstance(value, dict) or not value:
        return None

    def hint(*names: str) -> bool | None:
        members: dict[str, Any] = value
        return next((bool(members[name]) for name in names if isinstance(members.get(name), bool)), None)

    annotations = ToolAnnotations(
        read_only=hint("readOnlyHint", "readOnly"),
        untrusted_content=hint("untrustedContentHint", "untrustedContent"),
        consequential=hint("consequentialHint", "consequential"),
        debugging=hint("debugging"),
    )
    return annotations if annotations != ToolAnnotations() else None
