// A shop like many: data comes by fetch, the page is drawn from it, and the same functions serve people and agents.
const $ = (id) => document.getElementById(id);
const euro = (amount) => Math.round(amount * 100) / 100;

let teas = [];
const cart = new Map(); // tea's id -> grams

function find({ text = "", kind, max_price = Infinity, in_stock = false }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return teas.filter((tea) => {
    const all = `${tea.name} ${tea.kind} ${tea.origin} ${tea.notes}`.toLowerCase();
    return words.every((word) => all.includes(word)) && (!kind || tea.kind === kind)
      && tea.price <= max_price && (!in_stock || tea.stock > 0);
  });
}

function contents() {
  const lines = [...cart].map(([id, grams]) => {
    const tea = teas.find((candidate) => candidate.id === id);
    return { tea: id, grams, euros: euro(tea.price * grams / 100) };
  });
  return { lines, total_euros: euro(lines.reduce((sum, line) => sum + line.euros, 0)) };
}

function add({ tea: id, grams = 100 }) {
  const tea = teas.find((candidate) => candidate.id === id);
  if (!tea) throw new Error(`there is no tea "${id}"; search_teas lists them`);
  if (!tea.stock) throw new Error(`${tea.name} is sold out`);
  cart.set(id, (cart.get(id) ?? 0) + grams);
  draw();
  return contents();
}

function draw() {
  $("teas").replaceChildren(...teas.map((tea) => {
    const card = document.createElement("li");
    card.innerHTML = "<strong></strong><br><small></small><p></p><button type=button></button>";
    const [name, about, notes, button] = card.querySelectorAll("strong, small, p, button");
    name.textContent = tea.name;
    about.textContent = `${tea.kind}, ${tea.origin}, € ${tea.price.toFixed(2)} / 100 g`;
    notes.textContent = tea.notes;
    button.textContent = tea.stock ? "Add 100 g" : "Sold out";
    button.disabled = !tea.stock;
    button.addEventListener("click", () => add({ tea: tea.id }));
    return card;
  }));
  const { lines, total_euros } = contents();
  $("cart").replaceChildren(...lines.map(({ tea, grams, euros }) => {
    const line = document.createElement("li");
    line.textContent = `${grams} g ${tea}, € ${euros.toFixed(2)}`;
    return line;
  }));
  $("total").textContent = lines.length ? `€ ${total_euros.toFixed(2)}` : "Nothing yet.";
}

const tools = () => [
  {
    name: "search_teas",
    title: "Search the teas",
    description: "Finds teas by words in their name, origin or tasting notes, by kind and by price.",
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: {
        text: { type: "string", description: "Words to look for; all teas when absent" },
        kind: { enum: ["green", "black", "oolong", "herbal"] },
        max_price: { type: "number", exclusiveMinimum: 0, description: "Euros per 100 g" },
        in_stock: { type: "boolean", default: false },
      },
      additionalProperties: false,
    },
    execute: (wanted) => find(wanted).map(({ id, name, kind, price, stock }) => ({ id, name, kind, price, stock })),
  },
  {
    name: "view_cart",
    description: "Shows what is in the cart and what it costs.",
    annotations: { readOnlyHint: true },
    execute: () => contents(),
  },
  {
    name: "add_to_cart",
    description: "Puts some of a tea into the cart.",
    annotations: { readOnlyHint: false },
    inputSchema: {
      type: "object",
      properties: {
        tea: { enum: teas.map((tea) => tea.id), description: "The tea's id" },
        grams: { type: "integer", minimum: 50, maximum: 1000, multipleOf: 50, default: 100 },
      },
      required: ["tea"],
      additionalProperties: false,
    },
    execute: add,
  },
  {
    name: "checkout",
    description: "Orders what is in the cart, bindingly.",
    annotations: { readOnlyHint: false, consequentialHint: true },
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", minLength: 1 }, postcode: { type: "string", pattern: "^[0-9]{5}$" } },
      required: ["name", "postcode"],
      additionalProperties: false,
    },
    execute({ name, postcode }) {
      const order = contents();
      if (!order.lines.length) {
        return { content: [{ type: "text", text: "The cart is empty: nothing was ordered." }], isError: true };
      }
      cart.clear();
      draw();
      return { ordered_for: name, postcode, ...order };
    },
  },
];

teas = await (await fetch("teas.json")).json();
draw();
const modelContext = document.modelContext ?? navigator.modelContext;
if (modelContext) {
  await Promise.all(tools().map((tool) => modelContext.registerTool(tool)));
  $("status").textContent = "The tools of this page: search_teas, view_cart, add_to_cart, checkout.";
} else {
  $("status").textContent = "This browser has no WebMCP.";
}
