"""The shape of the interfaces: what WebIDL says of `ModelContext`, its events and where they are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

SHAPE = """
const shape = (object, name) => {
  const d = Object.getOwnPropertyDescriptor(object, name);
  const f = (g) => g === undefined ? null : [g.name, g.length, Object.hasOwn(g, "prototype")];
  return "value" in d
    ? { writable: d.writable, enumerable: d.enumerable, configurable: d.configurable, value: typeof d.value }
    : { enumerable: d.enumerable, configurable: d.configurable, get: f(d.get), set: f(d.set) };
};
"""


async def test_model_context_is_a_read_only_attribute_of_every_document(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(SHAPE + 'return shape(Document.prototype, "modelContext")') == {
        "enumerable": True,
        "configurable": True,
        "get": ["get modelContext", 0, False],
        "set": None,
    }
    assert await page.run("return [Object.hasOwn(document, 'modelContext'), 'modelContext' in document]") == [
        False,
        True,
    ]


async def test_model_context_is_the_same_object_each_time_and_on_navigator(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("return [mc === document.modelContext, mc === navigator.modelContext]") == [True, True]
    assert await page.run(SHAPE + 'return shape(Navigator.prototype, "modelContext")') == {
        "enumerable": True,
        "configurable": True,
        "get": ["get modelContext", 0, False],
        "set": None,
    }
    assert await page.run("return Object.hasOwn(navigator, 'modelContext')") is False


async def test_assigning_to_model_context_has_no_effect(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """document.modelContext = 5;
        return [document.modelContext === mc, await caught(async () => { "use strict"; document.modelContext = 5; })]"""
    ) == [True, "TypeError"]


async def test_the_attribute_refuses_what_is_no_document(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const results = [];
        for (const [where, wrong] of [[Document.prototype, navigator], [Navigator.prototype, document]]) {
          const { get } = Object.getOwnPropertyDescriptor(where, "modelContext");
          for (const value of [wrong, {}, null, undefined, 5, window, Object.create(where), where])
            results.push(await caught(async () => get.call(value)));
        }
        return [...new Set(results)]"""
    ) == ["TypeError"]


async def test_a_document_without_a_window_has_a_context_of_its_own_that_is_not_active(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """const results = [];
        for (const doc of [document.implementation.createHTMLDocument(""), new Document(),
                           new DOMParser().parseFromString("<p>", "text/html")]) {
          const own = doc.modelContext;
          const key = { name: "a", description: "d", origin: "https://example.com", window };
          results.push([own instanceof ModelContext, own === doc.modelContext, own === mc,
            await caught(() => own.registerTool(tool("a"))), await caught(() => own.getTools()),
            await caught(() => own.executeTool(key))]);
        }
        return results"""
        )
        == [[True, True, False, "InvalidStateError", "InvalidStateError", "InvalidStateError"]] * 3
    )


async def test_the_prototype_has_exactly_the_members_of_the_interface(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("return Reflect.ownKeys(ModelContext.prototype).map(String).sort()") == [
        "Symbol(Symbol.toStringTag)",
        "constructor",
        "executeTool",
        "getTools",
        "ontoolactivated",
        "ontoolcancel",
        "ontoolchange",
        "registerTool",
    ]
    assert await page.run("return Reflect.ownKeys(mc)") == []
    assert await page.run("return Object.prototype.toString.call(mc)") == "[object ModelContext]"


async def test_operations_are_enumerable_writable_and_of_the_right_length(open_document: Open) -> None:
    page = await open_document()
    operation = {"writable": True, "enumerable": True, "configurable": True, "value": "function"}
    assert await page.run(
        SHAPE
        + """return ["registerTool", "getTools", "executeTool"].map((name) => {
          const f = ModelContext.prototype[name];
          return [shape(ModelContext.prototype, name), f.name, f.length, Object.hasOwn(f, "prototype")];
        })"""
    ) == [
        [operation, "registerTool", 1, False],
        [operation, "getTools", 0, False],
        [operation, "executeTool", 1, False],
    ]
    assert await page.run("return caught(async () => new mc.getTools())") == "TypeError"


async def test_event_handler_attributes_are_enumerable_accessors(open_document: Open) -> None:
    page = await open_document()
    for name in ("ontoolchange", "ontoolactivated", "ontoolcancel"):
        assert await page.run(SHAPE + f'return shape(ModelContext.prototype, "{name}")') == {
            "enumerable": True,
            "configurable": True,
            "get": [f"get {name}", 0, False],
            "set": [f"set {name}", 1, False],
        }


async def test_interface_objects_are_hidden_properties_of_the_global_object(open_document: Open) -> None:
    page = await open_document()
    hidden = {"writable": True, "enumerable": False, "configurable": True, "value": "function"}
    prototype = {"writable": False, "enumerable": False, "configurable": False, "value": "object"}
    for name, length, parent in (
        ("ModelContext", 0, "EventTarget"),
        ("ToolActivatedEvent", 1, "Event"),
        ("ToolCancelEvent", 1, "Event"),
    ):
        assert await page.run(
            SHAPE
            + f"""return [shape(window, "{name}"), shape({name}, "prototype"), {name}.name, {name}.length,
              Object.getPrototypeOf({name}) === {parent},
              Object.getPrototypeOf({name}.prototype) === {parent}.prototype,
              {name}.prototype.constructor === {name}, {name}.prototype[Symbol.toStringTag]]"""
        ) == [hidden, prototype, name, length, True, True, True, name]
        assert await page.run(
            SHAPE + f"return [shape({name}.prototype, Symbol.toStringTag), shape({name}.prototype, 'constructor')]"
        ) == [
            {"writable": False, "enumerable": False, "configurable": True, "value": "string"},
            {"writable": True, "enumerable": False, "configurable": True, "value": "function"},
        ]


async def test_a_page_cannot_construct_a_model_context(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """return [await caught(async () => new ModelContext()), await caught(async () => ModelContext()),
          await caught(async () => new (class extends ModelContext {})()),
          await caught(async () => Reflect.construct(ModelContext, [], EventTarget)),
          await caught(async () => Object.create(ModelContext.prototype).ontoolchange)]"""
        )
        == ["TypeError"] * 5
    )
    with_message = "try { new ModelContext() } catch (e) { return e.message }"
    assert await page.run(with_message) == "Illegal constructor"


async def test_members_check_their_receiver_and_operations_reject(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const results = [];
        const made = Reflect.construct(EventTarget, [], ModelContext);
        for (const receiver of [{}, null, undefined, 5, document, new EventTarget(), ModelContext.prototype, made]) {
          const row = [];
          for (const name of ["registerTool", "getTools", "executeTool"])
            row.push(await caught(() => ModelContext.prototype[name].call(receiver, tool("a"))));
          for (const name of ["ontoolchange", "ontoolactivated", "ontoolcancel"]) {
            const { get, set } = Object.getOwnPropertyDescriptor(ModelContext.prototype, name);
            row.push(await caught(() => get.call(receiver)), await caught(() => set.call(receiver, null)));
          }
          results.push(row.join());
        }
        return [...new Set(results)]"""
    ) == [",".join(["TypeError"] * 3 + ["thrown TypeError"] * 6)]


async def test_a_missing_argument_is_a_rejection_with_a_type_error(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """return Promise.all([mc.registerTool(), mc.executeTool()].map((p) => p.catch((e) => [e.name, e.message])))"""
    ) == [
        [
            "TypeError",
            "Failed to execute 'registerTool' on 'ModelContext': 1 argument required, but only 0 present.",
        ],
        [
            "TypeError",
            "Failed to execute 'executeTool' on 'ModelContext': 1 argument required, but only 0 present.",
        ],
    ]


async def test_tool_events_are_constructible_with_a_tool_name(open_document: Open) -> None:
    page = await open_document()
    for name in ("ToolActivatedEvent", "ToolCancelEvent"):
        assert await page.run(
            f"""const E = {name}; const a = new E("x", {{ toolName: 5, bubbles: 1, cancelable: true, composed: true }});
            const b = new E("y");
            return [a.type, a.toolName, a.bubbles, a.cancelable, a.composed, a instanceof Event, b.toolName,
              b.bubbles, new E("z", null).toolName, new E("z", undefined).toolName, a.isTrusted, String(a)]"""
        ) == ["x", "5", True, True, True, True, "", False, "", "", False, f"[object {name}]"]
        assert (
            await page.run(
                f"""return [await caught(() => new {name}()), await caught(() => new {name}("x", 5)),
              await caught(() => {name}("x")), await caught(() => new {name}(Symbol())),
              await caught(() => new {name}("x", {{ toolName: Symbol() }})),
              await caught(() => {name}.prototype.toolName)]"""
            )
            == ["thrown TypeError"] * 6
        )


async def test_tool_events_convert_their_arguments_in_order(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = [];
        const init = new Proxy({}, { get(_, key) { log.push(String(key)); } });
        new ToolActivatedEvent({ toString() { log.push("type"); return "x"; } }, init);
        return log"""
    ) == ["type", "bubbles", "cancelable", "composed", "toolName"]


async def test_tool_name_is_an_enumerable_getter_of_the_prototype(open_document: Open) -> None:
    page = await open_document()
    for name in ("ToolActivatedEvent", "ToolCancelEvent"):
        assert await page.run(SHAPE + f'return shape({name}.prototype, "toolName")') == {
            "enumerable": True,
            "configurable": True,
            "get": ["get toolName", 0, False],
            "set": None,
        }


async def test_a_page_can_extend_and_dispatch_tool_events(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """class Mine extends ToolCancelEvent {}
        let seen;
        mc.addEventListener("toolcancel", (e) => { seen = [e.toolName, e.target === mc, e instanceof Mine]; });
        mc.dispatchEvent(new Mine("toolcancel", { toolName: "q" }));
        return seen"""
    ) == ["q", True, True]


async def test_an_event_handler_keeps_its_place_until_it_is_null(open_document: Open) -> None:
    page = await open_document()
    for type_ in ("toolchange", "toolactivated", "toolcancel"):
        assert (
            await page.run(
                f"""const log = [], on = "on{type_}", fire = () => mc.dispatchEvent(new Event("{type_}"));
            mc.addEventListener("{type_}", () => log.push("first"));
            mc[on] = () => log.push("a");
            mc.addEventListener("{type_}", () => log.push("last"));
            mc[on] = () => log.push("b");
            fire(); log.push("|");
            mc[on] = null; fire(); log.push("|");
            mc[on] = () => log.push("c"); fire();
            return log.join(" ")"""
            )
            == "first b last | first last | first last c"
        )


async def test_an_event_handler_takes_any_object_and_calls_only_functions(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const results = [mc.ontoolchange];
        for (const value of [5, "x", undefined, true, Symbol()]) {
          mc.ontoolchange = value; results.push(mc.ontoolchange);
        }
        let called = false;
        const object = { handleEvent() { called = true; } };
        mc.ontoolchange = object;
        mc.dispatchEvent(new Event("toolchange"));
        return [...results, mc.ontoolchange === object, called]"""
    ) == [None, None, None, None, None, None, True, False]


async def test_an_event_handler_is_called_with_the_context_as_this_and_false_cancels(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """let seen;
        mc.ontoolcancel = function (e) { seen = [this === mc, arguments.length, e.type]; return false; };
        const e = new Event("toolcancel", { cancelable: true });
        return [mc.dispatchEvent(e), e.defaultPrevented, seen]"""
    ) == [False, True, [True, 1, "toolcancel"]]


async def test_nothing_is_on_the_page_that_the_specification_lacks(open_document: Open) -> None:
    bare = await open_document(mode="off")
    page = await open_document()
    names = """(() => {
      const of = (object) => object === null ? [] : Reflect.ownKeys(object).map(String);
      const all = [globalThis, document, navigator, Document.prototype, Navigator.prototype, EventTarget.prototype,
                   Event.prototype, Object, Function.prototype, Promise, Promise.prototype];
      return all.map(of).map((list) => list.sort());
    })()"""
    without, with_ = await bare.evaluate(names), await page.evaluate(names)
    added = [sorted(set(b) - set(a)) for a, b in zip(without, with_, strict=True)]
    assert added[0] == ["ModelContext", "ToolActivatedEvent", "ToolCancelEvent"]
    assert added[3:5] == [["modelContext"], ["modelContext"]]
    assert not any(added[1:3] + added[5:])
    assert [set(a) - set(b) for a, b in zip(without, with_, strict=True)] == [set()] * len(without)
    assert await page.evaluate(f"typeof {page.binding}") == "undefined"
    page_names = await page.evaluate("Object.getOwnPropertyNames(globalThis)")
    assert page.handle not in page_names
    assert page.binding not in page_names
