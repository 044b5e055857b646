"""``webmcp doctor [PAGE]``."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Any

from pywebmcp.cli._doctor_engines import EngineReport, examine_engines
from pywebmcp.cli._exits import DONE, error_json, exit_code
from pywebmcp.cli._open import OPEN_TIMEOUT, opened
from pywebmcp.cli._output import Style, emit, emit_json
from pywebmcp.cli._progress import Progress
from pywebmcp.cli._target import read_target
from pywebmcp.cli._text import harmless
from pywebmcp.cli._wait import LIST_WAIT, none_chosen, waited
from pywebmcp.errors import ToolNotFoundError, WebMCPError

if TYPE_CHECKING:
    from pywebmcp.cli._doctor_page import PageReport
    from pywebmcp.cli._parser import Options
    from pywebmcp.cli._target import Target

__all__ = ["diagnose"]

UNUSABLE_PAGE = 3
UNUSABLE_ENGINE = 5
_PACKAGES = ("lightpanda", "websockets", "jsonschema-rs", "playwright")


async def diagnose(options: Options) -> int:
    """Prints what is there; 0 when it can be used, 3 for a page without tools, 5 for an engine or page that fails."""
    from pywebmcp import __version__

    target = read_target(options.page) if options.page else None
    report: dict[str, Any] = {
        "pywebmcp": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "packages": _packages(),
    }
    style = Style(sys.stdout)
    with Progress() as progress:
        if not options.json:
            emit(_head(report, style))
        progress.step("starting the engines")
        engines = await examine_engines(options)
        progress.clear()
        if not options.json:
            emit("\n".join(line for engine in engines for line in _engine_lines(engine, style)))
        report["engines"] = [engine.to_json() for engine in engines]
        code = DONE if any(engine.usable for engine in engines if engine.chosen) else UNUSABLE_ENGINE
        if target is not None:
            page, page_code = await _page(options, target, progress)
            progress.clear()
            if not options.json:
                emit("\n" + "\n".join(_page_lines(page, style)))
            report["page"] = page.to_json() if not isinstance(page, WebMCPError) else {"error": error_json(page)}
            code = page_code
    report["usable"] = code == DONE
    if options.json:
        emit_json(report)
    return code


async def _page(options: Options, target: Target, progress: Progress) -> tuple[PageReport | WebMCPError, int]:
    from pywebmcp.cli._doctor_page import ScriptErrors, examine_page

    errors = ScriptErrors()
    wait = LIST_WAIT if options.wait is None else options.wait
    limit = options.timeout or OPEN_TIMEOUT
    try:
        async with opened(options, progress, target=target, timeout=limit, prepare=errors.listen) as open_page:
            progress.step("waiting for a first tool")
            try:
                tools = await waited(open_page.page, options)
            except ToolNotFoundError:
                tools = await open_page.page.tools()
            progress.step("asking every frame")
            hidden = None if tools else none_chosen(await open_page.page.tools(), options)
            report = await examine_page(open_page, errors, tools, wait, hidden)
            return report, DONE if report.usable else UNUSABLE_PAGE
    except WebMCPError as error:
        return error, exit_code(error)


# --- for a person -------------------------------------------------------------------------------------------


def _head(report: dict[str, Any], style: Style) -> str:
    packages = ", ".join(f"{name} {version or '(not installed)'}" for name, version in report["packages"].items())
    name = style.bold(f"pywebmcp {report['pywebmcp']}")
    return f"{name}, Python {report['python']} on {report['platform']}\n  {packages}"


def _engine_lines(engine: EngineReport, style: Style) -> list[str]:
    mark = style.green("✓") if engine.usable else style.red("✗")
    name = f"{engine.name} {engine.version or ''}".strip()
    lines = [f"{mark} {style.bold(harmless(name))}{'  (the one that is used)' if engine.chosen else ''}"]
    if engine.executable:
        lines.append(f"    {engine.executable}")
    if engine.problem:
        lines += [f"    {style.red(harmless(line))}" for line in engine.problem.splitlines()]
        return lines
    lines.append(f"    from start to a page: {engine.start_ms:.0f} ms" if engine.start_ms else "    runs")
    if engine.surface == "native":
        methods = ", ".join(str(name) for name in engine.own.get("methods", []))
        further = [
            text for key, text in (("forms", "form tools"), ("policy", "the policy tools")) if engine.own.get(key)
        ]
        lines.append(f"    its own model context: {harmless(', '.join([methods, *further]))}")
        if engine.flags:
            lines.append(f"    switched on by --enable-features={','.join(engine.flags)}")
    else:
        lines.append("    no complete model context of its own: pages get our runtime")
    return lines


def _page_lines(page: PageReport | WebMCPError, style: Style) -> list[str]:
    if isinstance(page, WebMCPError):
        return [f"{style.red('✗')} {harmless(str(page))}  {style.dim(f'[{page.code}]')}"]
    mark = style.green("✓") if page.usable else style.red("✗")
    count = len(page.tools)
    lines = [
        f"{mark} {style.bold(harmless(page.url))}: {count or 'no'} tool{'' if count == 1 else 's'}",
        f"    {page.engine}, origin {harmless(page.origin)}, {page.frames} frame{'' if page.frames == 1 else 's'}",
        f"    {page.surface}: {harmless(page.reason)}",
    ]
    marks = {"problem": style.red("!"), "warning": style.yellow("!"), "note": style.dim("·")}
    for finding in page.findings:
        if finding.code == "runtime":
            continue  # said above
        where = f" (in {finding.frame})" if finding.frame else ""
        lines.append(f"  {marks[finding.level]} {harmless(finding.message + where)}  {style.dim(f'[{finding.code}]')}")
    return lines


def _packages() -> dict[str, str | None]:
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found
