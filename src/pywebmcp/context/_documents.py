"""Documents, the tools registered in them, and the calls on their way to them.

A tool belongs to a document and dies with it; a call belongs to a registration and settles exactly once.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pywebmcp.errors import DocumentUnloadedError, OutcomeUnknownError, WebMCPError
from pywebmcp.types import InvocationStatus, Tool
from pywebmcp.values.quoting import quote
from pywebmcp.values.schemas import Compiled, ReadSchema, compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.types import Frame, ToolAnnotations
    from pywebmcp.values.results import Decoded
    from pywebmcp.wire import Session

__all__ = ["MAX_TOOLS", "Document", "Registration", "Registry", "Run", "SurfaceAdapter"]

log = logging.getLogger("pywebmcp.context")

MAX_TOOLS = 10_000
"""Registrations of one document that the host mirrors; a hostile page gets no more of our memory."""

MAX_TEXT = 64 * 1024 * 1024
"""Characters of all texts in the registrations of one document that the host mirrors."""

NO_SCHEMA = ReadSchema(schema=None, text=None, warnings=())


class SurfaceAdapter(Protocol):
    """One way to call the tools of a document: the contract that each file of ``surfaces/`` implements."""

    @property
    def kind(self) -> Literal["native", "runtime", "page"]:
        """What `Tool.surface` says."""
        ...

    def start(self, run: Run) -> None:
        """Sends the call, at most once. The outcome reaches `run` later, through `Run.settle` or `Run.fail`.

        Raises:
            WebMCPError: the call was not sent (``ran="no"``).
        """
        ...

    async def cancel(self, run: Run, timeout: float) -> bool:
        """Tells the page to stop; True when the document answered within `timeout` seconds (it yields)."""
        ...


class Run:
    """One call on its way: whoever settles it first wins, everything later is dropped and counted."""

    __slots__ = (
        "arguments",
        "arguments_json",
        "engine_id",
        "future",
        "id",
        "late",
        "navigating",
        "on_status",
        "registration",
        "sent",
        "status",
        "unwanted",
    )

    def __init__(self, run_id: str, registration: Registration, arguments: dict[str, Any], arguments_json: str) -> None:
        self.id = run_id
        self.registration = registration
        self.arguments = arguments
        self.arguments_json = arguments_json
        self.future: asyncio.Future[Decoded] = asyncio.get_running_loop().create_future()
        self.status = InvocationStatus.PENDING
        self.late = 0
        self.navigating = False
        """True while a form's navigation decides about its result."""
        self.engine_id: str | None = None
        """The engine's own id of the invocation, once it told one."""
        self.sent = False
        """True once the call is on its way: from then on it may have effects."""
        self.unwanted = False
        """True when the call was canceled before the engine took it."""
        self.on_status: Callable[[InvocationStatus], None] | None = None

    def settle(self, decoded: Decoded) -> bool:
        """Ends the run with a result; False when it had ended before."""
        if self.future.done():
            self.late += 1
            log.debug("dropped a late answer of %s", self.id)
            return False
        self.future.set_result(decoded)
        return True

    def fail(self, error: WebMCPError) -> bool:
        """Ends the run with an error; False when it had ended before."""
        if self.future.done():
            self.late += 1
            log.debug("dropped a late error of %s", self.id)
            return False
        error.about(tool=self.registration.name, origin=self.registration.document.origin, invocation_id=self.id)
        self.future.set_exception(error)
        # The caller may have been cancelled meanwhile; nobody else has to look at this exception.
        self.future.exception()
        return True

    def unload(self) -> bool:
        """Ends the run because its document went away."""
        name, url = quote(self.registration.name), quote(self.registration.document.url)
        message = f"the document at {url} went away before the tool {name} answered; it may have had effects"
        return self.fail(DocumentUnloadedError(message))

    def wait_for_submission(self) -> None:
        """Marks a form that is filled and waits for a person."""
        if not self.future.done() and self.status is InvocationStatus.PENDING:
            self.status = InvocationStatus.AWAITING_SUBMISSION
            if self.on_status:
                self.on_status(self.status)


class Registration:
    """One registration of one tool in one document, as the host mirrors it."""

    __slots__ = (
        "_compiled",
        "alive",
        "annotations",
        "autosubmit",
        "completed",
        "declarative",
        "description",
        "document",
        "exposed_to",
        "id",
        "input",
        "name",
        "output",
        "ref",
        "source",
        "surface",
        "title",
        "warnings",
    )

    def __init__(
        self,
        document: Document,
        registration_id: int,
        surface: SurfaceAdapter,
        *,
        name: str,
        description: str,
        title: str | None = None,
        input: ReadSchema = NO_SCHEMA,  # noqa: A002 - the field's name
        output: ReadSchema = NO_SCHEMA,
        annotations: ToolAnnotations | None = None,
        declarative: bool = False,
        autosubmit: bool = False,
        exposed_to: tuple[str, ...] = (),
    ) -> None:
        self.document = document
        self.id = registration_id
        self.surface = surface
        self.ref = f"{document.id}.{surface.kind[0]}{registration_id}"
        self.name = name
        self.description = description
        self.title = title
        self.input = input
        self.output = output
        self.annotations = annotations
        self.declarative = declarative
        self.autosubmit = autosubmit
        self.exposed_to = exposed_to
        self.warnings = input.warnings + output.warnings
        self.completed = False
        """True once the native surface has asked for what CDP leaves out."""
        self.source: object = None
        """What a surface that lists by comparison read it from."""
        self.alive = True
        self._compiled: Compiled | None = None

    @property
    def weight(self) -> int:
        """Characters of its texts."""
        texts = (self.description, self.title, self.input.text, self.output.text)
        return sum(len(text) for text in texts if text)

    @property
    def compiled(self) -> Compiled | None:
        """The input schema ready to check arguments; None when the tool gave none."""
        if self._compiled is None and self.input.schema is not None:
            self._compiled = compile_schema(self.input.schema)
        return self._compiled

    def snapshot(self, frame: Frame) -> Tool:
        """The public, frozen view."""
        compiled = self.compiled
        return Tool(
            name=self.name,
            description=self.description,
            ref=self.ref,
            origin=self.document.origin,
            frame=frame,
            surface=self.surface.kind,
            title=self.title,
            input_schema=self.input.schema,
            input_schema_json=self.input.text,
            output_schema=self.output.schema,
            annotations=self.annotations,
            declarative=self.declarative,
            schema_problem=compiled.problem if compiled else None,
            warnings=self.warnings,
        )


class Document:
    """One loaded document of one frame."""

    __slots__ = (
        "alive",
        "asked",
        "context_id",
        "foreign",
        "frame_id",
        "hello",
        "id",
        "is_top",
        "loader_id",
        "origin",
        "overflowed",
        "problem",
        "registrations",
        "registry",
        "runs",
        "session",
        "url",
        "weight",
        "world_id",
    )

    def __init__(
        self,
        document_id: str,
        registry: Registry,
        *,
        frame_id: str,
        loader_id: str,
        session: Session,
        url: str,
        origin: str,
        is_top: bool,
    ) -> None:
        self.id = document_id
        self.registry = registry
        self.frame_id = frame_id
        self.loader_id = loader_id
        self.session = session
        self.url = url
        self.origin = origin
        self.is_top = is_top
        self.alive = True
        self.context_id: int | None = None
        """The execution context of the page's own scripts."""
        self.world_id: int | None = None
        """Our isolated world in it, once made (native surface)."""
        self.asked = False
        """True once its native model context has been asked for its details."""
        self.problem: str | None = None
        """Why it has no usable native model context, as far as that was asked."""
        self.hello: str | None = None
        """What the injected script said it is: runtime, native, off, insecure; None before it spoke."""
        self.foreign = False
        """True while the page shows its own object as ``document.modelContext``."""
        self.overflowed = False
        self.weight = 0
        self.registrations: dict[str, Registration] = {}
        self.runs: dict[str, Run] = {}

    def add(self, registration: Registration) -> bool:
        """Mirrors a registration; False when the document has too many, or too much text in them."""
        weight = registration.weight
        if len(self.registrations) >= MAX_TOOLS or self.weight + weight > MAX_TEXT:
            if not self.overflowed:
                self.overflowed = True
                log.warning(
                    "a document of %s registered more than %d tools, or more than %d characters of text in them; "
                    "the rest is ignored",
                    quote(self.origin),
                    MAX_TOOLS,
                    MAX_TEXT,
                )
            return False
        self.weight += weight
        self.registrations[registration.ref] = registration
        self.registry.added(registration)
        return True

    def remove(self, registration: Registration) -> None:
        """Forgets a registration; running calls of it go on."""
        if self.registrations.pop(registration.ref, None) is not None:
            registration.alive = False
            self.weight -= registration.weight
            self.registry.removed(registration)

    def find(self, name: str, kind: str) -> Registration | None:
        """The living registration of that name on that surface of this document."""
        for registration in self.registry.named(name):
            if registration.document is self and registration.surface.kind == kind:
                return registration
        return None

    def destroy(self, *, engine_lost: str | None = None) -> None:
        """The document is gone: its tools vanish and every call on its way ends.

        Args:
            engine_lost: Why nobody can say how calls ended (the engine, the renderer or the connection died);
                None when the document was unloaded in an orderly way.
        """
        if not self.alive:
            return
        self.alive = False
        for registration in list(self.registrations.values()):
            registration.alive = False
            self.registry.removed(registration)
        self.registrations.clear()
        for run in list(self.runs.values()):
            name = quote(run.registration.name)
            if engine_lost:
                run.fail(OutcomeUnknownError(f"{engine_lost} while the tool {name} ran; it may have had effects"))
            elif run.registration.declarative:
                run.navigating = True
                asyncio.get_running_loop().call_later(NAVIGATION_RESULT_WAIT, _end_navigation, run)
            else:
                run.unload()


NAVIGATION_RESULT_WAIT = 5.0
"""Seconds that a form's navigation may take to bring the new document's JSON-LD (Chromium answers within its load)."""


def _end_navigation(run: Run) -> None:
    from pywebmcp.values.results import navigated

    if not run.future.done():
        run.settle(navigated(None))


class Registry:
    """All registrations of one page, by name and by ref, and who wants to know of changes."""

    __slots__ = ("_by_name", "_by_ref", "_listener")

    def __init__(self, listener: Callable[[Registration, bool], None]) -> None:
        self._by_name: dict[str, dict[str, Registration]] = {}
        self._by_ref: dict[str, Registration] = {}
        self._listener = listener

    def __len__(self) -> int:
        return len(self._by_ref)

    def added(self, registration: Registration) -> None:
        """Called by `Document.add`."""
        self._by_ref[registration.ref] = registration
        self._by_name.setdefault(registration.name, {})[registration.ref] = registration
        self._listener(registration, True)

    def removed(self, registration: Registration) -> None:
        """Called by `Document.remove` and `Document.destroy`."""
        self._by_ref.pop(registration.ref, None)
        named = self._by_name.get(registration.name)
        if named is not None:
            named.pop(registration.ref, None)
            if not named:
                del self._by_name[registration.name]
        self._listener(registration, False)

    def named(self, name: str) -> list[Registration]:
        """Living registrations of that name, over all documents."""
        return list(self._by_name.get(name, {}).values())

    def by_ref(self, ref: str) -> Registration | None:
        """The living registration with that ref."""
        return self._by_ref.get(ref)

    def names(self) -> list[str]:
        """Names of everything that is registered, sorted."""
        return sorted(self._by_name)
