import { productById } from "../products.ts";
import { element } from "./element.ts";
import { ADDRESS_FIELDS, addToCart, readAddress, readCart, writeAddress, writeCart } from "./stored.ts";
import type { Address } from "./stored.ts";

/** Draws the parts of a page that depend on the stored data; called again whenever that changes. */
export function drawPage(): void {
  const cart = readCart();
  const count = cart.reduce((sum, item) => sum + item.quantity, 0);
  for (const node of document.querySelectorAll("[data-cart-count]"))
    node.textContent = count === 0 ? "" : String(count);
  for (const node of document.querySelectorAll("[data-cart]")) {
    node.replaceChildren(
      ...(cart.length === 0 ? [emptyCart()] : cartRows(node.getAttribute("data-cart") === "edit")),
    );
  }
  for (const node of document.querySelectorAll<HTMLElement>("[data-needs-cart]"))
    node.hidden = cart.length === 0;
  drawAddress();
}

/** Handles the shop's buttons and forms, found by their data attributes. */
export function listenToPage(): void {
  document.addEventListener("click", (event) => {
    const target =
      event.target instanceof Element ? event.target.closest<HTMLElement>("[data-add], [data-remove]") : null;
    if (target === null) return;
    const { add, remove } = target.dataset;
    if (add !== undefined) addToCart(add, 1);
    if (remove !== undefined) writeCart(readCart().filter((item) => item.id !== remove));
  });
  document.querySelector("form[data-address]")?.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    writeAddress(addressIn(event.currentTarget), true);
    location.href = "/checkout";
  });
  document.querySelector("[data-order]")?.addEventListener("click", () => {
    writeCart([]);
    location.href = "/thanks";
  });
  window.addEventListener("shop:found", (event) => {
    const found: unknown = event instanceof CustomEvent ? event.detail : null;
    if (!Array.isArray(found)) return;
    for (const card of document.querySelectorAll<HTMLElement>("[data-product]")) {
      card.classList.toggle("aside", found.length > 0 && !found.includes(card.dataset["product"]));
    }
  });
}

function addressIn(form: HTMLFormElement): Address {
  const values = new Map(new FormData(form));
  return Object.fromEntries(
    ADDRESS_FIELDS.map((name) => {
      const value = values.get(name);
      return [name, typeof value === "string" ? value : ""];
    }),
  );
}

function drawAddress(): void {
  const { address, saved } = readAddress();
  const form = document.querySelector("form[data-address]");
  for (const name of ADDRESS_FIELDS) {
    const field = form?.querySelector<HTMLInputElement>(`[name=${name}]`);
    if (field) field.value = address[name] ?? "";
  }
  for (const node of document.querySelectorAll<HTMLElement>("[data-saved]")) node.hidden = !saved;
  for (const node of document.querySelectorAll("[data-shown-address]")) {
    node.textContent = saved
      ? `${address.name}, ${address.street}, ${address.postcode} ${address.city}, ${address.country}`
      : "No address yet";
  }
}

function emptyCart(): HTMLElement {
  return element("p", { class: "quiet" }, "The cart is empty.");
}

function cartRows(mayEdit: boolean): HTMLElement[] {
  const rows = readCart().flatMap(({ id, quantity }) => {
    const product = productById(id);
    return product === null ? [] : [{ product, quantity }];
  });
  const total = rows.reduce((sum, { product, quantity }) => sum + product.price * quantity, 0);
  return [
    ...rows.map(({ product, quantity }) =>
      element(
        "div",
        { class: "row" },
        element("img", { src: `/pictures/${product.id}.svg`, alt: "", width: "56", height: "56" }),
        element("span", { class: "grow" }, `${quantity} × ${product.name}`),
        element("span", {}, `€ ${product.price * quantity}`),
        ...(mayEdit
          ? [
              element(
                "button",
                {
                  type: "button",
                  class: "link",
                  "data-remove": product.id,
                  "aria-label": `Remove ${product.name}`,
                },
                "Remove",
              ),
            ]
          : []),
      ),
    ),
    element(
      "div",
      { class: "row total" },
      element("span", { class: "grow" }, "Total"),
      element("span", {}, `€ ${total}`),
    ),
  ];
}
