// For src/demo/model/
import { expect, test } from "vitest";
import type { ModelMessage, OfferedTool } from "../../src/model.ts";
import { decide } from "../../src/demo/model/decide.ts";
import type { DemoTurn } from "../../src/demo/model/decide.ts";

function tool(name: string, properties: Record<string, object> = {}, description = ""): OfferedTool {
  const required = Object.keys(properties);
  return {
    name,
    description,
    parameters: {
      type: "object",
      properties: { ...properties, _progress: { type: "string" } },
      required,
    },
  };
}
const text = { type: "string" };
const taskFailed = tool("task_failed", { reason: text });
const clock = tool("clock", {}, "The present date and time, in UTC or in a time zone.");
const orderStatus = tool(
  "order_status",
  { orderId: text },
  "Where an order is. Order numbers have four digits.",
);
const shop = [
  tool("search_products", { query: text }, "Finds products"),
  tool("add_to_cart", { productId: text, quantity: { type: "integer" } }, "Puts a product into the cart"),
  tool("fill_address", {
    name: text,
    street: text,
    city: text,
    country: { type: "string", enum: ["AT", "DE"] },
  }),
  tool("submit_address"),
  tool("go_to_checkout"),
];

/** What was said, and the calls of the run so far with their results. */
function ask(said: string, tools: OfferedTool[], ...calls: [name: string, result: string][]): DemoTurn {
  const messages: ModelMessage[] = [
    { role: "system", content: "You help" },
    { role: "user", content: "Buy me a car" },
    { role: "assistant", content: "", calls: [{ callId: "old", name: "search_products", arguments: "{}" }] },
    { role: "tool", callId: "old", content: "nothing" },
    { role: "user", content: said },
    ...calls.flatMap(([name, content], n): ModelMessage[] => [
      { role: "assistant", content: "", calls: [{ callId: `c${n}`, name, arguments: "{}" }] },
      { role: "tool", callId: `c${n}`, content },
    ]),
  ];
  return decide(messages, tools.length > 0 ? [...tools, taskFailed] : []);
}

test.each([
  ["Hello!", "I am the demo model"],
  ["Hallo, wer bist du?", "Ich bin das Demo-Modell"],
  ["What can you do?", "I am the demo model"],
  ["Was kannst du denn?", "Ich bin das Demo-Modell"],
  ["¡Hola!", "Soy el modelo de demostración"],
  ["Bonjour, qui est là ?", "Je suis le modèle de démonstration"],
  ["Ciao, che fai?", "Sono il modello dimostrativo"],
  ["Olá, o que é isto?", "Sou o modelo de demonstração"],
])("%s is greeted in its language", (said, part) => {
  expect(ask(said, [])).toEqual({ type: "text", text: expect.stringContaining(part) });
});

test("other text is repeated, and said to be from a demo", () => {
  const turn = ask("I like trains", []);
  expect(turn).toEqual({ type: "text", text: expect.stringMatching(/demo model.*“I like trains”/) });
  expect(decide([], [])).toMatchObject({ type: "text" });
});

test("small talk calls no tool, and tells what can be done", () => {
  expect(ask("Hello there", [clock])).toEqual({
    type: "text",
    text: expect.stringMatching(/demo model.*clock/),
  });
  expect(ask("I like trains", shop)).toMatchObject({ type: "text" });
});

test.each([
  "What time is it?",
  "Wie viel Uhr ist es?",
  "¿Qué hora es?",
  "Quelle heure est-il ?",
  "Che ore sono?",
  "use clock",
])("%s asks the clock, then answers from its result", (said) => {
  expect(ask(said, [orderStatus, clock])).toMatchObject({ type: "call", name: "clock" });
  expect(ask(said, [orderStatus, clock], ["clock", "12:30"])).toEqual({
    type: "text",
    text: expect.stringContaining("12:30"),
  });
});

test.each(["Where is order 1001?", "Wo ist meine Bestellung 1001?", "¿Dónde está mi pedido 1001?"])(
  "%s looks the order up",
  (said) => {
    expect(ask(said, [...shop, clock, orderStatus])).toMatchObject({
      type: "call",
      name: "order_status",
      arguments: { orderId: "1001" },
    });
  },
);

test("the progress is a sentence in the visitor's language, where the tool takes one", () => {
  expect(ask("Wie viel Uhr ist es?", [clock])).toMatchObject({
    arguments: { _progress: "Wird geprüft: clock … | Geprüft: clock" },
  });
  const bare: OfferedTool = { name: "clock", description: "", parameters: {} };
  expect(ask("use clock", [bare])).toEqual({ type: "call", name: "clock", arguments: {} });
});

test.each([
  "I want to talk to a person",
  "Can I speak with someone?",
  "Ich möchte mit einem Menschen sprechen",
  "Quiero hablar con una persona",
  "Je voudrais parler à une personne",
  "Vorrei parlare con una persona",
  "Quero falar com uma pessoa",
])("%s: a person is called for, where the channel allows it", (said) => {
  const handOff = tool("hand_off", { reason: text, summary: text });
  expect(ask(said, [clock, handOff])).toEqual({
    type: "call",
    name: "hand_off",
    arguments: { reason: expect.any(String), summary: expect.stringContaining(said) },
  });
  expect(ask(said, [clock])).toMatchObject({ type: "text" });
  expect(ask("Hello", [clock, handOff])).toMatchObject({ text: expect.not.stringContaining("hand off") });
});

test("buying goes step by step through the shop's tools", () => {
  const said = "Buy me a red mug and check out";
  const found = '[{"id":"mug-7","name":"Red mug","price":9}]';
  const steps: [string, string][] = [
    ["search_products", found],
    ["add_to_cart", "1 item in the cart"],
    ["fill_address", "filled"],
    ["submit_address", "thank you"],
    ["go_to_checkout", "Order 1002 is placed"],
  ];
  const turns = steps.map((_, n) => ask(said, shop, ...steps.slice(0, n)));
  expect(turns.map((turn) => (turn.type === "call" ? turn.name : turn.text))).toEqual(
    steps.map(([name]) => name),
  );
  expect(turns[0]).toMatchObject({ arguments: { query: "red mug" } });
  expect(ask(said, shop, ["search_products", found])).toMatchObject({
    arguments: { productId: "mug-7", quantity: 1 },
  });
  expect(turns[2]).toMatchObject({
    arguments: { name: "Ada Example", street: "1 Example Street", city: "Berlin", country: "AT" },
  });
  expect(ask(said, shop, ...steps)).toEqual({
    type: "text",
    text: expect.stringContaining("Order 1002 is placed"),
  });
});

test("a step whose tool is not on this page waits until it is", () => {
  const said = "Kaufe mir eine rote Tasse und bezahle";
  const byName = (...names: string[]) => shop.filter(({ name }) => names.includes(name));
  const done: [string, string][] = [
    ["search_products", "id: cup-1"],
    ["add_to_cart", "ok"],
  ];
  expect(ask(said, byName("search_products"))).toMatchObject({ name: "search_products" });
  expect(ask(said, byName("search_products", "add_to_cart", "go_to_checkout"), ...done)).toMatchObject({
    name: "go_to_checkout",
  });
  expect(
    ask(said, byName("fill_address", "submit_address"), ...done, ["go_to_checkout", "ok"]),
  ).toMatchObject({
    name: "fill_address",
  });
});

test("what was not found is said, and nothing else is bought in its place", () => {
  const said = "Find me a blue mug and put it into the cart";
  const red = "id: red-mug, Red mug, 18 euros";
  expect(ask(said, shop, ["search_products", red])).toEqual({
    type: "text",
    text: "I found no “blue mug”. There is: Red mug (18 euros).",
  });
  expect(ask(said, shop, ["search_products", "Nothing found for it."])).toMatchObject({ type: "text" });
  expect(ask(said, shop, ["search_products", `${red}\nid: b, Blue mug`])).toMatchObject({
    name: "add_to_cart",
  });
});

test("searching alone buys nothing", () => {
  expect(ask("Find a green hat", shop)).toMatchObject({
    name: "search_products",
    arguments: { query: "green hat" },
  });
  expect(ask("Find a green hat", shop, ["search_products", "none"])).toMatchObject({ type: "text" });
});

test("arguments are drawn from the text and the schema", () => {
  const paint = tool("paint", {
    color: { type: "string", enum: ["red", "blue"] },
    coats: { type: "integer" },
    thickness: { type: "number", default: 0.5 },
    glossy: { type: "boolean" },
    tags: { type: "array", items: text },
    label: text,
    where: { type: "object", properties: { city: text }, required: ["city"] },
  });
  expect(ask('paint it blue with 3 coats and the label "Fresh"', [paint])).toMatchObject({
    name: "paint",
    arguments: {
      color: "blue",
      coats: 3,
      thickness: 3,
      glossy: true,
      tags: ["Fresh"],
      label: "Fresh",
      where: { city: "Fresh" },
    },
  });
});

test("a failed tool is told as such, and nothing more is called", () => {
  const turn = ask("Buy a red mug", shop, ["search_products", "The tool failed: the shelf is on fire"]);
  expect(turn).toEqual({ type: "text", text: "That did not work: the shelf is on fire" });
});

test.each(["Fly me to the moon", "Please sing a song", "fail the task"])(
  "%s cannot be done with the tools on offer: the task fails with a reason",
  (said) => {
    expect(ask(said, [...shop, clock])).toMatchObject({
      type: "call",
      name: "task_failed",
      arguments: { reason: expect.stringContaining(said) },
    });
    expect(ask(said, [])).toMatchObject({ type: "text" });
  },
);

const documents = tool("search_knowledge", { query: text });
const passages = (...texts: string[]) => JSON.stringify({ passages: texts.map((one) => ({ text: one })) });

test.each([
  ["How long may I return a mug?", "search_knowledge"],
  ["How can I pay?", "search_knowledge"],
  ["Wie lange dauert die Lieferung?", "search_knowledge"],
  ["What time is it?", "clock"],
  ["Where is my order 1001?", "order_status"],
  ["Can you find a red mug?", "search_products"],
])("with documents, %j calls %s", (said, name) => {
  expect(ask(said, [documents, clock, orderStatus, ...shop])).toMatchObject({ type: "call", name });
});

test("what documents say is answered in their words, and what they do not say is not invented", () => {
  const said = "How long may I return a mug?";
  const rules = passages(
    "You may change your mind. Within 30 days you may return a mug. No reason is needed. Gifts too.",
    "Mugs are blue.",
  );
  expect(ask(said, [documents], ["search_knowledge", rules])).toEqual({
    type: "text",
    text: "Within 30 days you may return a mug. No reason is needed.",
  });
  expect(ask(said, [documents], ["search_knowledge", passages()])).toEqual({
    type: "text",
    text: "I found nothing about that in the shop's documents.",
  });
  expect(ask("Hello!", [documents])).toMatchObject({ type: "text" });
});

test.each([
  ["id: red-mug, Red mug, 18 euros", "The red mug costs 18 euros."],
  ["id: a, Red mug, 18 euros\nid: b, Tea pot, 54 euros", "There is: Red mug (18 euros), Tea pot (54 euros)."],
  ["Order 1001 was shipped yesterday.", "Order 1001 was shipped yesterday."],
  ['{"rows":3}', 'This is what I found: {"rows":3}'],
])("what the shop has answered is said as an assistant says it: %s", (result, said) => {
  expect(ask("Find a red mug", shop, ["search_products", result])).toEqual({ type: "text", text: said });
});
