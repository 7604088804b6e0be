import { productById, PRODUCTS } from "../products.ts";
import type { PageTool } from "./chat-agent.ts";
import { ADDRESS_FIELDS, addToCart, readAddress, readCart, writeAddress } from "./stored.ts";
import type { Address } from "./stored.ts";

/** The agent's tools in this shop: every step before an order, but never the order itself. */
export const SHOP_TOOLS: PageTool[] = [
  {
    name: "search_products",
    title: "Search the shop",
    description: "Search the shop's products by a word. Answers with id, name and price in euros.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", description: "What to look for, for example: mug" } },
      required: ["query"],
    },
    annotations: { readOnlyHint: true },
    execute: ({ query }) => search(text(query)),
  },
  {
    name: "add_to_cart",
    title: "Add to the cart",
    description: "Put a product into the cart, by its id from search_products.",
    inputSchema: {
      type: "object",
      properties: {
        product_id: { type: "string", description: "A product's id" },
        quantity: { type: "integer", minimum: 1, maximum: 20, description: "How many; 1 when not said" },
      },
      required: ["product_id"],
    },
    execute: ({ product_id, quantity }) => add(text(product_id), Number(quantity ?? 1)),
  },
  {
    name: "fill_address",
    title: "Fill in the address",
    description: "Fill in the delivery address, and open the address page so that the visitor can check it.",
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(ADDRESS_FIELDS.map((name) => [name, { type: "string" }])),
      required: [...ADDRESS_FIELDS],
    },
    execute: (args) => fillAddress(args),
  },
  {
    name: "submit_address",
    title: "Save the address",
    description: "Save the delivery address that is filled in.",
    inputSchema: { type: "object", properties: {} },
    execute: () => submitAddress(),
  },
  {
    name: "go_to_checkout",
    title: "Go to the checkout",
    description: "Open the checkout page, where the visitor looks at the order and places it.",
    inputSchema: { type: "object", properties: {} },
    execute: () => goToCheckout(),
  },
];

/** A model writes the arguments: they may be anything. */
function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function said(text: string) {
  return { content: [{ type: "text", text }] };
}

/** Returned, not thrown, so that the agent reads the reason. */
function failed(text: string) {
  return { isError: true, content: [{ type: "text", text }] };
}

function search(query: string) {
  const words = query.toLowerCase().split(/\W+/).filter(Boolean);
  const found = PRODUCTS.map((product) => {
    const text = `${product.name} ${product.line} ${product.story}`.toLowerCase();
    return { product, score: words.filter((word) => text.includes(word.replace(/s$/, ""))).length };
  })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ product }) => product);
  window.dispatchEvent(new CustomEvent("shop:found", { detail: found.map(({ id }) => id) }));
  if (found.length === 0)
    return said(`Nothing found for "${query}". The shop has: ${PRODUCTS.map((p) => p.name).join(", ")}.`);
  return said(found.map(({ id, name, price }) => `id: ${id}, ${name}, ${price} euros`).join("\n"));
}

function add(id: string, quantity: number) {
  const product =
    productById(id) ?? PRODUCTS.find(({ name }) => name.toLowerCase() === id.toLowerCase()) ?? null;
  if (product === null) return failed(`There is no product with the id ${id}. Search first.`);
  const many = Number.isInteger(quantity) && quantity > 0 && quantity <= 20 ? quantity : 1;
  addToCart(product.id, many);
  const inCart = readCart().reduce((sum, item) => sum + item.quantity, 0);
  return said(`Added ${many} × ${product.name}. The cart holds ${inCart} in all.`);
}

function fillAddress(args: Record<string, unknown>) {
  const filled: Address = {};
  for (const name of ADDRESS_FIELDS) {
    const value = args[name];
    if (typeof value === "string" && value !== "") filled[name] = value;
  }
  writeAddress({ ...readAddress().address, ...filled }, false);
  if (location.pathname !== "/address") location.href = "/address";
  return said("The address is filled in and shown on the page. It is not saved yet.");
}

function submitAddress() {
  const { address } = readAddress();
  const missing = ADDRESS_FIELDS.filter((name) => (address[name] ?? "") === "");
  if (missing.length > 0) return failed(`The address lacks: ${missing.join(", ")}.`);
  writeAddress(address, true);
  return said(`The address is saved: ${address.name}, ${address.city}.`);
}

function goToCheckout() {
  if (readCart().length === 0) return failed("The cart is empty: add a product first.");
  if (!readAddress().saved) return failed("There is no saved address: fill it in and save it first.");
  location.href = "/checkout";
  return said("The checkout page is open: look the order over, and place it there.");
}
