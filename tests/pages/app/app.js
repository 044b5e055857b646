// A single-page application: modules, data by fetch, a dynamic import, tools that come and go with the views.
import { createRouter, useTool } from "./framework.js";

async function load() {
  const response = await fetch("./data.json");
  if (!response.ok) throw new Error(`data.json: ${response.status}`);
  const { items, currency } = await response.json();
  return {
    items,
    basket: [],
    reserve({ id, days, code = null }) {
      const item = items.find((candidate) => candidate.id === id);
      if (!item) throw new RangeError(`nothing is called ${id}`);
      if (!item.left) throw new RangeError(`${item.name} is all out`);
      item.left -= 1;
      const reservation = { id, days, code, price: days * item.daily, currency };
      this.basket.push(reservation);
      return reservation;
    },
  };
}

const [store, { createViews }] = await Promise.all([load(), import("./views.js")]);
await new Promise((done) => setTimeout(done, 150)); // hydration
const strict = new URLSearchParams(location.search).has("strict");
const router = createRouter(createViews(store), document.getElementById("root"), document.getElementById("nav"), { strict });
router.render();

// The one tool that stays, whatever the view.
useTool({
  name: "go_to",
  description: "Shows another view; its tools follow.",
  inputSchema: { type: "object", properties: { view: { enum: ["catalogue", "basket"] } }, required: ["view"] },
  execute: ({ view }) => ({ view: router.go(view) }),
})();
