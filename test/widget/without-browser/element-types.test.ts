// For src/widget/attributes.ts, src/widget/chat-agent.ts
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Attributes, OBSERVED } from "../../../src/widget/attributes.ts";
import { ChatAgent } from "../../../src/widget/chat-agent.ts";

/** That element.d.ts tells what the element has, and nothing else, by name; element-types.ts does so by type. */

const widget = fileURLToPath(new URL("../../../src/widget/", import.meta.url));
const declaration = readFileSync(`${widget}element.d.ts`, "utf8");

/** Names of the fields of an interface or class of the declaration. */
function fieldsOf(head: string): string[] {
  const body = declaration.split(`${head} {\n`)[1]?.split("\n}\n")[0] ?? "";
  const fields = body.matchAll(/^ {2}(?:readonly |override )?"?([A-Za-z-]+)"?(?:\??:|\()/gm);
  return [...fields].map(([, name = ""]) => name).sort();
}

/** Names of the attributes that the code and the stylesheets read. */
function attributesRead(): string[] {
  const read = new Set<string>(OBSERVED);
  const note = (name: string) => (read.add(name), null);
  const element = { getAttribute: note, hasAttribute: note, closest: () => element };
  // Only what Attributes calls is there; the rest of an element needs a browser.
  const attributes = new Attributes(element as unknown as HTMLElement, "");
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(Attributes.prototype)))
    if ("get" in property) Reflect.get(attributes, name);
  const files = readdirSync(widget, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => /\.(tsx?|css)$/.test(name) && !name.endsWith(".d.ts"))) {
    const source = readFileSync(`${widget}${file}`, "utf8");
    for (const [, name = ""] of source.matchAll(/(?::host\(\[|attribute(?:s\.text)?\(")([a-z-]+)/g))
      note(name);
  }
  // Of every element.
  read.delete("hidden");
  return [...read].sort();
}

test("the declaration tells every attribute that the element reads, and no other", () => {
  expect(attributesRead()).toEqual(fieldsOf("export interface ChatAgentAttributes"));
});

test("README tells the attributes of the declaration", () => {
  const table =
    readFileSync(`${widget}README.md`, "utf8").split("## Attributes\n")[1]?.split("\n## ")[0] ?? "";
  const rows = table
    .split("\n")
    .flatMap((line) => (line.startsWith("| `") ? [line.split("|")[1] ?? ""] : []));
  const names = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
  expect(names.sort()).toEqual(fieldsOf("export interface ChatAgentAttributes"));
});

/** Called by the browser alone. */
const LIFECYCLE = ["constructor", "connectedCallback", "disconnectedCallback", "attributeChangedCallback"];

test("the declaration tells every property and method that the element has, and no other", () => {
  const source = readFileSync(`${widget}chat-agent.ts`, "utf8");
  const fields = [...source.matchAll(/^ {2}readonly (\w+) =/gm)].map(([, name = ""]) => name);
  const own = Object.getOwnPropertyNames(ChatAgent.prototype).filter((name) => !LIFECYCLE.includes(name));
  expect([...own, ...fields].sort()).toEqual(fieldsOf("export declare class ChatAgent extends HTMLElement"));
});

test("the declaration tells every event of the element, and no other", () => {
  const events = readFileSync(`${widget}run/chat-agent-events.ts`, "utf8");
  const names = [...events.matchAll(/^ {2}"?([a-z-]+)"?: (?:\{|Record)/gm)].map(([, name = ""]) => name);
  expect(names.sort()).toEqual(fieldsOf("export interface ChatAgentEvents"));
});
