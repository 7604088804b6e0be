// For src/widget/page-conversation.ts
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pageConversation } from "../../../src/widget/page-conversation.ts";
import type { PageConversation } from "../../../src/widget/page-conversation.ts";
import type { Tool } from "../../../src/widget/tools/tool.ts";
import { element, openSite, tabStorage } from "./page.ts";
import type { Site } from "./page.ts";

let site: Site;
let nth = 0;

beforeEach(() => {
  site = openSite();
  nth += 1;
});

afterEach(() => {
  vi.unstubAllGlobals();
});

function onPage(): PageConversation {
  const { api, shared } = site;
  return pageConversation(`page ${nth}`, () => ({
    api,
    publishableKey: "pk_test",
    sharedStorage: shared,
    tabStorage: tabStorage(),
    lockPrefix: "",
  }));
}

const buys: Tool = {
  name: "buy",
  annotations: { consequentialHint: true },
  source: "property",
  waitsForForm: false,
  execute: () => "bought",
};

test("an element that comes for another one has its conversation: the question that waits, and each event once", async () => {
  const page = onPage();
  const [before, after] = [element([buys]), element([buys])];
  expect(page.join(before.host)).toBe(false);
  site.streams.push([{ type: "tool_call", tool: "buy", callId: "c1", arguments: { what: "mug" } }]);
  const sent = page.conversation.send("Buy it", null);
  await vi.waitFor(() => expect(page.conversation.view.state.confirmation).not.toBe(null));

  page.leave(before.host);
  expect(onPage()).toBe(page);
  expect(onPage().join(after.host)).toBe(true);
  expect(page.conversation.view.state.confirmation?.title).toBe("buy");
  page.conversation.view.state.confirmation?.decide("allow");
  await sent;

  const names = [...before.events, ...after.events].map(([name]) => name);
  for (const name of ["message", "before-tool", "tool-result", "done"])
    expect(names.filter((one) => one === name)).toHaveLength(name === "message" ? 2 : 1);
  expect(after.events.map(([name]) => name)).toEqual(expect.arrayContaining(["tool-result", "done"]));
  expect(site.asked.at(-1)?.body).toMatchObject({ callId: "c1", result: "bought" });
});

test("an element that leaves the page goes on answering until another one comes", async () => {
  const page = onPage();
  const gone = element([{ ...buys, annotations: {} }]);
  page.join(gone.host);
  page.leave(gone.host);
  site.streams.push([{ type: "tool_call", tool: "buy", callId: "c1", arguments: {} }]);
  await page.conversation.send("Buy it", null);
  expect(site.asked.at(-1)?.body).toMatchObject({ callId: "c1", result: "bought" });
});

test("the element that came last speaks, also where the one before it leaves later", async () => {
  const page = onPage();
  const [before, after] = [element(), element()];
  page.join(before.host);
  page.join(after.host);
  page.leave(before.host);
  await page.conversation.send("Hello", null);
  expect(before.events).toEqual([]);
  expect(after.events.map(([name]) => name)).toContain("done");
});
