import { useTool } from "./framework.js";

export function createViews(store) {
  const describe = (text) => useTool({
    name: "describe_view", // every view has one: the same name, another meaning
    description: text,
    annotations: { readOnlyHint: true },
    execute: () => text,
  });

  return {
    catalogue: () => ({
      html: `<h1>Hire</h1><ul>${store.items.map((item) => `<li>${item.name}</li>`).join("")}</ul>`,
      effects: [
        describe("The catalogue: everything there is to hire."),
        useTool({
          name: "search_items",
          description: "Finds things to hire.",
          annotations: { readOnlyHint: true },
          inputSchema: {
            type: "object",
            properties: { kind: { enum: ["shelter", "kitchen", "water"] }, available: { type: "boolean" } },
          },
          execute: ({ kind, available }) =>
            store.items.filter((item) => (!kind || item.kind === kind) && (!available || item.left > 0)),
        }),
        useTool({
          name: "reserve",
          description: "Reserves one thing for some days.",
          inputSchema: {
            type: "object",
            properties: { id: { type: "string" }, days: { type: "integer", minimum: 1 }, code: { type: "string" } },
            required: ["id", "days"],
          },
          execute: async (wanted) => store.reserve(wanted),
        }),
      ],
    }),
    basket: () => ({
      html: `<h1>Basket</h1><p>${store.basket.length} reservations</p>`,
      effects: [
        describe("The basket: what is reserved."),
        useTool({ name: "view_basket", description: "Lists the reservations.", execute: () => store.basket }),
        useTool({
          name: "clear_basket",
          description: "Gives every reservation back.",
          annotations: { consequentialHint: true },
          execute: () => { store.basket.length = 0; },
        }),
      ],
    }),
  };
}
