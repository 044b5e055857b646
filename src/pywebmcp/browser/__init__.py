"""Browser, Page and Invocation: the public objects (floor 3).

They are re-exported by `pywebmcp`; import them from there.
"""

from pywebmcp.browser._attach import attach
from pywebmcp.browser._browser import Browser
from pywebmcp.browser._calls import CallHooks
from pywebmcp.browser._events import EventStream, Subscription
from pywebmcp.browser._invocation import Invocation
from pywebmcp.browser._launch import connect, launch
from pywebmcp.browser._page import Page

__all__ = ["Browser", "CallHooks", "EventStream", "Invocation", "Page", "Subscription", "attach", "connect", "launch"]
