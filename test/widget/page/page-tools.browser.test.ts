// For src/widget/tools/, src/widget/run/tab/page-calls.ts
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { PickedSchema } from "../../../src/agent/tools/picked-schema.ts";
import type { Line } from "../../../machines/line.ts";
import { launchBrowser, SOON, test, visitOf } from "../browser.ts";
import type { OpenVisit, Visit } from "../browser.ts";
import { startPageServer } from "./page-server.ts";
import { call, called, reply, startScriptedService } from "../scripted-service.ts";
import type { Asked, ScriptedService } from "../scripted-service.ts";

let plain: Browser;
let native: Browser;
let service: ScriptedService;
let site: { url: string; close(): Promise<void> };

beforeAll(async () => {
  service = await startScriptedService();
  site = await startPageServer(service.url);
  [plain, native] = await Promise.all([launchBrowser({ webMcp: false }), launchBrowser({ webMcp: true })]);
});

afterAll(async () => {
  await Promise.all([plain.close(), native.close()]);
  await site.close();
  await service.close();
});

/** Given to the element, registered with MCP-B's polyfill, registered with the browser's own WebMCP. */
const SOURCES = ["property", "polyfill", "native"] as const;

let asks = 0;

/** Lets the agent call a tool on a page whose tools come from `source`; answers what was posted for it. */
async function callOn(
  visit: OpenVisit,
  source: (typeof SOURCES)[number],
  tool: string,
  query = "",
): Promise<{ at: Visit; posts: Asked[]; asked: Asked[] }> {
  asks += 1;
  const over = `Over ${asks}.`;
  const said = `call ${tool} ${asks}`;
  const turn = call(tool, tool === "autosubmit_form" ? { query: "it" } : { word: "it" });
  const callId = turn.flatMap((cue) => (cue.type === "tool_call" ? [cue.callId] : []))[0];
  service.scripts.set(said, [turn, [called(tool), ...reply(over)]]);
  const at = await visit(source === "native" ? native : plain, `${site.url}/?tools=${source}${query}`);
  await at.say(said);
  await at.log.getByText(over).waitFor();
  const token = await at.tell<string>("agent.getVisitorToken()");
  const asked = service.asked.filter((one) => one.token === token);
  return {
    at,
    asked,
    posts: asked.filter(({ path, body }) => path === "/tool-results" && body["callId"] === callId),
  };
}

describe.concurrent.each(SOURCES)("a page tool (%s)", (source) => {
  test("W7: is offered with what its schema refers to, also if the page itself sends the message", async ({
    expect,
    visit,
  }) => {
    const at = await visit(source === "native" ? native : plain, `${site.url}/?tools=${source}`);
    await at.tell(`agent.send("ship it (${source})")`);
    const token = await at.tell<string>("agent.getVisitorToken()");
    // Tools that are registered meanwhile are posted again.
    const post = service.asked.findLast((one) => one.token === token && one.path === "/tools");
    const catalog = post?.body["webmcpTools"] as { name: string; inputSchema: unknown }[];
    const schema = catalog.find(({ name }) => name === "returns_text")?.inputSchema;
    expect(new PickedSchema(schema).keywords).toEqual({
      type: "object",
      properties: { to: { type: "object", properties: { zip: { type: "string" } }, required: ["zip"] } },
      required: ["to"],
    });
  });

  test("answers with its text, and is offered in the catalog before the message", async ({
    expect,
    visit,
  }) => {
    const { posts, asked, at } = await callOn(visit, source, "returns");
    expect(posts.map(({ body }) => body["result"])).toEqual([
      { content: [{ type: "text", text: "returned it" }] },
    ]);
    expect(posts[0]?.body).toMatchObject({ isError: false, tool: "returns" });
    const catalog = asked.find(({ path }) => path === "/tools")?.body["webmcpTools"] as { name: string }[];
    expect(catalog.map(({ name }) => name)).toContain("navigates_only");
    const order = asked.map(({ path }) => path);
    expect(order.indexOf("/tools")).toBeLessThan(order.indexOf("/messages"));
    expect(at.troubles).toEqual([]);
  });

  test("navigates and returns: the next page posts what it returned, or where it is", async ({
    expect,
    visit,
  }) => {
    const { posts, at } = await callOn(visit, source, "navigates");
    expect(posts).toHaveLength(1);
    expect(posts[0]?.body["page"]).toMatch(/^\/next/);
    // The browser's own WebMCP tells a result by a way around: a page that is left may not hear of it any more.
    const told = source === "native" ? /opened it|opened a new page: Page \/next/ : /opened it/;
    expect(JSON.stringify(posts[0]?.body["result"])).toMatch(told);
    await expect.poll(() => at.log.locator(".step.done").count(), SOON).toBe(1);
    expect(at.troubles).toEqual([]);
  });

  test("navigates and never returns: the next page says where it is", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, source, "navigates_only");
    expect(posts).toHaveLength(1);
    expect(JSON.stringify(posts[0]?.body["result"])).toContain(
      "The tool opened a new page: Page /next (/next). It returned no value.",
    );
    expect(await at.tell("agent.open")).toBe(true);
  });

  test("throws: told as an error", async ({ expect, visit }) => {
    const { posts } = await callOn(visit, source, "throws");
    expect(posts[0]?.body["isError"]).toBe(true);
    // The browser's own WebMCP does not tell what was thrown.
    if (source !== "native")
      expect(JSON.stringify(posts[0]?.body["result"])).toMatch(/Tool failed: .*out of stock/);
  });

  test("returns isError: told as an error, with its text", async ({ expect, visit }) => {
    const { posts } = await callOn(visit, source, "returns_error");
    expect(posts[0]?.body["isError"]).toBe(true);
    expect(JSON.stringify(posts[0]?.body["result"])).toContain("sold out");
  });
});

describe.concurrent("a page tool", () => {
  test.for(["throws_no_text", "throws_much"])("%s: told as an error", async (tool, { expect, visit }) => {
    const { posts } = await callOn(visit, "property", tool);
    expect(posts.map(({ body }) => body["isError"])).toEqual([true]);
    const result = JSON.stringify(posts[0]?.body["result"]);
    expect(result).toContain("Tool failed: ");
    expect(result.length).toBeLessThan(10_000);
  });

  test.for(["navigates_late", "reloads"])(
    "%s: posted once, after the navigation",
    async (tool, { expect, visit }) => {
      const { posts, at } = await callOn(visit, "native", tool);
      expect(posts).toHaveLength(1);
      expect(await at.tell("window.calls.length")).toBe(0);
    },
  );

  test("pushes a state: posted from the same page, with its new address", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, "native", "pushes");
    expect(posts[0]?.body["page"]).toContain("pushed=1");
    expect(await at.tell("window.calls")).toEqual(["pushes"]);
  });

  test("downloads: no navigation", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, "native", "downloads");
    expect(posts).toHaveLength(1);
    expect(await at.tell("window.calls")).toEqual(["downloads"]);
  });

  test("navigates to a 204: posted from the same page after a while", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, "native", "goes_nowhere");
    expect(posts).toHaveLength(1);
    expect(await at.tell("window.calls")).toEqual(["goes_nowhere"]);
  });

  test("navigates on a browser without the Navigation API", async ({ expect, visit }) => {
    const { posts } = await callOn(visit, "property", "navigates", "&no-navigation=1");
    expect(posts).toHaveLength(1);
    expect(posts[0]?.body["page"]).toMatch(/^\/next/);
  });

  test.for(["polyfill", "native"] as const)(
    "is a form that submits itself (%s): the next page answers",
    async (source, { expect, visit }) => {
      const { posts } = await callOn(visit, source, "autosubmit_form");
      expect(posts).toHaveLength(1);
      expect(posts[0]?.body["page"]).toMatch(/^\/next/);
    },
  );

  test("is gone on the next page: its catalog is posted before the result", async ({ expect, visit }) => {
    const { asked } = await callOn(visit, "property", "navigates_only", "&fewer=1");
    const order = asked.map(({ path, body }) =>
      path === "/tools" ? `tools ${JSON.stringify(body["webmcpTools"])}` : path,
    );
    expect(order.indexOf("tools []")).toBeGreaterThan(-1);
    expect(order.indexOf("tools []")).toBeLessThan(order.indexOf("/tool-results"));
  });

  test("returns far too much, or nothing", async ({ expect, visit }) => {
    const huge = await callOn(visit, "property", "is_huge");
    expect(String(huge.posts[0]?.body["result"])).toHaveLength(8_000);
    const nothing = await callOn(visit, "property", "returns_nothing");
    expect(nothing.posts[0]?.body["result"]).toBe("");
  });

  test("does not exist: told so", async ({ expect, visit }) => {
    const { posts } = await callOn(visit, "property", "unheard_of");
    expect(JSON.stringify(posts[0]?.body["result"])).toContain("There is no tool named unheard_of");
  });

  test("takes longer than tool-timeout: told so, and aborted", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, "property", "is_slow", "&attributes=tool-timeout=%220.3%22");
    expect(JSON.stringify(posts[0]?.body["result"])).toContain("did not answer within 0.3 seconds");
    expect(await at.tell("window.calls")).toEqual(["is_slow", "aborted"]);
  });

  test("is prevented by the page: the visitor declined", async ({ expect, visit }) => {
    const { posts, at } = await callOn(visit, "property", "returns", "&decline=1");
    expect(posts[0]?.body["isError"]).toBe(true);
    expect(JSON.stringify(posts[0]?.body["result"])).toContain("The visitor declined");
    expect(await at.tell("window.calls")).toEqual([]);
  });

  test("is stopped while it runs", async ({ expect, visit }) => {
    service.scripts.set("stop the tool", [call("is_slow"), reply("Never said.")]);
    const at = await visit(plain, `${site.url}/`);
    await at.say("stop the tool");
    await expect.poll(() => at.tell("window.calls.length"), SOON).toBe(1);
    await at.agent.getByRole("button", { name: "Stop" }).click();
    await at.log.getByText("Stopped").waitFor();
    expect(await at.tell("window.calls")).toEqual(["is_slow", "aborted"]);
    expect(await at.tell("agent.state")).toBe("idle");
  });

  test.for(["polyfill", "native"] as const)(
    "waits for the visitor to submit a form (%s)",
    async (source, { expect, visit }) => {
      const said = `fill the form (${source})`;
      service.scripts.set(said, [
        call("visitor_form", { wish: "a pony" }),
        [called("visitor_form"), ...reply("Wished.")],
      ]);
      const at = await visit(source === "native" ? native : plain, `${site.url}/?tools=${source}`);
      await at.say(said);
      await at.agent.getByText("Check the form on the page and submit it.").waitFor();
      expect(await at.tell("agent.state")).toBe("waiting-user");
      await at.page.getByRole("button", { name: "Send it" }).click();
      await at.log.getByText("Wished.").waitFor();
    },
  );

  test("whose call is no longer pending (409): the run's stream tells how it ended", async ({
    expect,
    visit,
  }) => {
    const expired: Line = { type: "error", code: "expired", message: "The page did not answer in time" };
    service.refusals.set("/tool-results returns_text", [{ status: 409, ended: expired }]);
    service.scripts.set("answer too late", [call("returns_text"), reply("Never said.")]);
    const at = await visit(plain, `${site.url}/`);
    await at.say("answer too late");
    await at.log.getByText("The page did not answer in time.").waitFor();
    const token = await at.tell<string>("agent.getVisitorToken()");
    const asked = service.asked.filter((one) => one.token === token).map(({ path }) => path);
    expect(asked.filter((path) => path === "/tool-results")).toHaveLength(1);
    expect(asked.slice(asked.indexOf("/tool-results")).some((path) => path.endsWith("/stream"))).toBe(true);
    expect(await at.tell("window.calls")).toEqual(["returns_text"]);
  });

  test.for([422, 413])(
    "whose result is refused (%i): the agent is told that, and the tool runs once",
    async (status, { expect, visit }) => {
      const tool = `is_refused_${status}`;
      service.refusals.set(`/tool-results ${tool}`, [{ status }]);
      const { posts, at } = await callOn(visit, "property", tool);
      expect(posts).toHaveLength(2);
      expect(posts[1]?.body).toMatchObject({
        isError: true,
        result: "The tool ran, but its result could not be delivered",
      });
      expect(await at.tell("window.calls")).toEqual([tool]);
    },
  );

  test("catalog that is too long loses what changes the page first, and says so", async ({
    expect,
    visit,
  }) => {
    const at = await visit(plain, `${site.url}/?tools=polyfill`);
    await at.tell(`agent.tools = Array.from({ length: 30 }, (_, n) => ({
      name: "bulky_" + n,
      description: "x".repeat(1_000),
      annotations: { readOnlyHint: n % 2 === 0 },
      execute() {},
    }))`);
    await at.say("trim it");
    await at.log.getByText("You said: trim it").waitFor();
    const token = await at.tell<string>("agent.getVisitorToken()");
    const posted = service.asked.findLast((one) => one.token === token && one.path === "/tools");
    const catalog = posted?.body["webmcpTools"] as { name: string }[];
    const names = catalog.map(({ name }) => name);
    expect(JSON.stringify(catalog).length).toBeLessThanOrEqual(20_000);
    expect(names).toEqual(expect.arrayContaining(Array.from({ length: 15 }, (_, n) => `bulky_${2 * n}`)));
    expect(names).not.toContain("returns");
    const trimmed = (await at.events("error")).filter(({ code }) => code === "catalog_trimmed");
    expect(trimmed.length).toBeGreaterThan(0);
    expect(String(trimmed.at(-1)?.["message"])).toContain("bulky_29");
  });

  test("with consequences asks first, once in a conversation where that is allowed", async ({
    expect,
    visit,
  }) => {
    service.scripts.set("do it", [
      call("is_consequential", { word: "all of it" }),
      [...call("is_consequential")],
      [called("is_consequential"), ...reply("Both done.")],
    ]);
    const at = await visit(plain, `${site.url}/`);
    await at.say("do it");
    const card = at.agent.getByRole("group", { name: "Allow this action?" });
    await card.getByText("all of it").waitFor();
    expect(await at.tell("window.calls")).toEqual([]);
    await card.getByRole("button", { name: "Allow in this conversation" }).click();
    await at.log.getByText("Both done.").waitFor();
    expect(await at.tell("window.calls")).toEqual(["is_consequential", "is_consequential"]);
  });

  test("is declined by the visitor", async ({ expect, visit }) => {
    service.scripts.set("do not", [call("is_consequential"), reply("As you wish.")]);
    const at = await visit(plain, `${site.url}/`);
    await at.say("do not");
    await at.agent.getByRole("button", { name: "Decline" }).click();
    await at.log.getByText("As you wish.").waitFor();
    expect(await at.tell("window.calls")).toEqual([]);
  });

  test.for(["", "?late"])(
    "that was asked for before a reload asks again, and runs once: /%s",
    async (query, { expect, visit }) => {
      service.scripts.set("ask twice", [
        call("is_consequential"),
        [called("is_consequential"), ...reply("Once.")],
      ]);
      const at = await visit(plain, `${site.url}/${query}`);
      await at.say("ask twice");
      await at.agent.getByRole("button", { name: "Decline" }).waitFor();
      await at.page.reload();
      await at.agent.getByRole("button", { name: "Allow", exact: true }).click();
      await at.log.getByText("Once.").waitFor();
      expect(await at.tell("window.calls")).toEqual(["is_consequential"]);
    },
  );

  test("runs in the tab that began, not in its duplicate", async ({ expect, visit }) => {
    service.scripts.set("two tabs", [call("is_slow"), reply("Never said.")]);
    const at = await visit(plain, `${site.url}/`);
    await at.say("two tabs");
    await expect.poll(() => at.tell("window.calls.length"), SOON).toBe(1);
    const [twin] = await Promise.all([
      at.page.context().waitForEvent("page"),
      // A window that a page opens on its own origin starts with a copy of its sessionStorage.
      at.page.evaluate("void window.open(location.href)"),
    ]);
    const duplicate = visitOf(twin);
    // It gives up waiting for the run, and then shows what is said like any other tab.
    await duplicate.log.getByText("two tabs").waitFor();
    await expect.poll(() => duplicate.tell("agent.state"), SOON).toBe("idle");
    const token = await at.tell<string>("agent.getVisitorToken()");
    expect(service.asked.filter((one) => one.token === token && one.path === "/tool-results")).toEqual([]);
    expect(await duplicate.tell("window.calls")).toEqual([]);
  });
});
