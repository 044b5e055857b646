// What a component framework does, in small: components return effects, effects return their clean-up, a route change
// unmounts one view and mounts the next, and in development every effect runs twice.
const modelContext = document.modelContext ?? navigator.modelContext;

export const useTool = (tool) => () => {
  const controller = new AbortController();
  Promise.resolve(modelContext?.registerTool(tool, { signal: controller.signal })).catch((error) => {
    if (error.name !== "AbortError") console.error(error);
  });
  return () => controller.abort();
};

export function createRouter(views, root, nav, { strict = false } = {}) {
  let cleanups = [];
  const unmount = () => cleanups.splice(0).forEach((cleanup) => cleanup());

  function render() {
    const parameters = new URLSearchParams(location.search);
    const name = views[parameters.get("view")] ? parameters.get("view") : "catalogue";
    unmount();
    const { html, effects } = views[name](parameters);
    root.innerHTML = html;
    for (const link of nav.querySelectorAll("a")) link.toggleAttribute("aria-current", link.dataset.view === name);
    if (strict) cleanups = effects.map((effect) => effect()), unmount();
    cleanups = effects.map((effect) => effect());
    return name;
  }

  nav.innerHTML = Object.keys(views).map((name) => `<a href="?view=${name}" data-view="${name}">${name}</a>`).join(" ");
  nav.addEventListener("click", (event) => {
    const view = event.target.dataset?.view;
    if (!view) return;
    event.preventDefault();
    go(view);
  });
  addEventListener("popstate", render);

  function go(view, rest = {}) {
    history.pushState(null, "", `?${new URLSearchParams({ view, ...rest })}`);
    return render();
  }
  return { go, render };
}
