import { productById, PRODUCTS } from "./products.ts";
import type { Product } from "./products.ts";
import { CHART_STATES } from "./chart-state.ts";

/** The settings of the chat in a page of the shop. All of them are public. */
export interface ChatSettings {
  /** Address of the service. */
  serviceUrl: string;
  publishableKey: string;
  offersSignIn: boolean;
}

/** The shop's page at a path; null if there is none. */
export function pageAt(path: string, chat: ChatSettings): string | null {
  const product = /^\/product\/([\w-]+)$/.exec(path)?.[1];
  if (product !== undefined) {
    const found = productById(product);
    return found === null ? null : page(found.name, productPage(found), chat);
  }
  const fixed = PAGES[path];
  return fixed === undefined ? null : page(fixed.title, fixed.body, chat);
}

function page(title: string, body: string, chat: ChatSettings): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · Hearth</title>
<link rel="icon" href="/pictures/red-mug.svg">
<link rel="stylesheet" href="/shop.css">
<script src="${escape(chat.serviceUrl)}/widget/v1/chat-agent.js" defer></script>
<script src="/shop.js" type="module"></script>
</head>
<body>
<header class="bar">
<a class="brand" href="/">Hearth</a>
<a href="/">Shop</a>
<a href="/cart">Cart<span class="count" data-cart-count></span></a>
${chat.offersSignIn ? '<button type="button" class="link" data-sign-in>Sign in</button>' : ""}
</header>
<div class="whole">
<main>${body}</main>
<aside class="trace" data-trace aria-label="What the service says">
<header><h2>Under the hood</h2><button type="button" class="link" data-clear>Clear</button></header>
<ul class="states" aria-label="State of the thread">
${CHART_STATES.map((state) => `<li data-state="${state}">${state}</li>`).join("\n")}
</ul>
<ol class="lines" data-lines tabindex="0" aria-label="Lines of the stream"></ol>
</aside>
</div>
<chat-agent publishable-key="${escape(chat.publishableKey)}" heading="Ask Hearth" welcome="Hello! What are you looking for?"></chat-agent>
</body>
</html>
`;
}

const PAGES: Partial<Record<string, { title: string; body: string }>> = {
  "/": {
    title: "Good things for the house",
    body: `<h1>Good things for the house</h1>
<p class="lead">Eight things, made slowly and meant to stay. Ask the assistant to find one for you, or to take you all the way to the checkout.</p>
<div class="goods">${PRODUCTS.map(card).join("")}</div>`,
  },
  "/cart": {
    title: "Cart",
    body: `<div class="narrow"><h1>Cart</h1>
<div class="after" data-cart="edit"></div>
<p class="after" data-needs-cart hidden><a class="button" href="/address">Continue to the address</a></p></div>`,
  },
  "/address": {
    title: "Address",
    body: `<div class="narrow"><h1>Where to?</h1>
<form data-address>
${[
  ["name", "Name", "name", "full"],
  ["email", "E-mail", "email", "full"],
  ["street", "Street and number", "street-address", "full"],
  ["postcode", "Postcode", "postal-code", ""],
  ["city", "City", "address-level2", ""],
  ["country", "Country", "country-name", "full"],
]
  .map(
    ([name, label, autocomplete, look]) =>
      `<label class="${look}">${label}<input name="${name}" autocomplete="${autocomplete}" required></label>`,
  )
  .join("\n")}
<p class="full quiet" data-saved hidden>This address is saved.</p>
<p class="full"><button class="button">Save and go to the checkout</button></p>
</form></div>`,
  },
  "/checkout": {
    title: "Checkout",
    body: `<div class="narrow"><h1>Checkout</h1>
<p class="lead">Look it over. Nothing is ordered until you press the button, and nothing is charged in a demo.</p>
<div data-cart="show"></div>
<p><span class="quiet">Delivered to</span><br><span data-shown-address></span> <a class="quiet" href="/address">Change</a></p>
<p class="after" data-needs-cart hidden><button type="button" class="button" data-order>Place the order</button></p></div>`,
  },
  "/thanks": {
    title: "Thank you",
    body: `<div class="narrow"><h1>Thank you.</h1>
<p class="lead">Your order is on its way, in the sense in which a demo's orders are.</p>
<p><a class="button" href="/">Back to the shop</a></p></div>`,
  },
};

function card({ id, name, price, line }: Product): string {
  return `<a class="good" href="/product/${id}" data-product="${id}">
<span class="picture"><img src="/pictures/${id}.svg" alt="" width="240" height="240"></span>
<h2>${escape(name)}</h2><p><span>${escape(line)}</span><span>€&nbsp;${price}</span></p></a>`;
}

function productPage({ id, name, price, line, story }: Product): string {
  return `<div class="product">
<span class="picture"><img src="/pictures/${id}.svg" alt="" width="240" height="240"></span>
<div><p class="quiet">${escape(line)}</p><h1>${escape(name)}</h1><p class="lead">${escape(story)}</p>
<p class="price">€&nbsp;${price}</p><button type="button" class="button" data-add="${id}">Add to the cart</button></div>
</div>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
