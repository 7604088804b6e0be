// For src/knowledge.ts, src/knowledge/, src/models/embeddings.ts, src/agent/tools/search-knowledge.ts, src/http/operator-api/knowledge.ts
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Line } from "../../machines/line.ts";
import { html, openSite } from "../knowledge/site.ts";
import type { SiteAnswer } from "../knowledge/site.ts";
import { call, lastUserText, say, status } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { until } from "../support/until.ts";
import { spoken } from "./clients/ask.ts";
import { OPERATOR_KEY, openWhole } from "./clients/open-whole.ts";

interface Found {
  passages: { title: string; url: string; text: string }[];
}

/** Searches for what it is asked, then answers the best passage. */
function readingModel({ body, ...request }: ModelServerRequest): ScriptedTurn {
  const last = body.messages.at(-1);
  if (last?.role === "tool") {
    const { passages } = JSON.parse(last.content as string) as Found;
    return [say(passages[0]?.text ?? "I do not know.")];
  }
  const offered = JSON.stringify(body.tools ?? []).includes('"search_knowledge"');
  return offered
    ? [call("search_knowledge", { query: lastUserText({ body, ...request }), _progress: "Looking it up" })]
    : [say("I have nothing to look into.")];
}

async function open(script: (request: ModelServerRequest) => ScriptedTurn, env: Record<string, string> = {}) {
  const whole = await openWhole({ script, env: { KNOWLEDGE_PRIVATE: "on", ...env } });
  onTestFinished(() => whole.close());
  const operator = async (method: string, path: string, body?: unknown) =>
    whole.ask({
      method,
      path: `/v1/operator/channels/cli/${path}`,
      headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ask = async (text: string): Promise<Line[]> =>
    (await whole.transport("/v1/messages", { threadId: "t1", userId: "ada", text })).lines();
  const source = async (name: string) => (await operator("GET", `knowledge/${name}`)).json() as SourceView;
  const isRead = (name: string) =>
    until(`${name} is read`, async () => (await source(name)).state === "read");
  return { whole, operator, ask, source, isRead };
}

interface SourceView {
  state: string;
  pages: number;
  readAt: number | null;
  failures: { url: string; why: string }[];
  fault: string | null;
}

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test(
  "a reply rests on documents of a site and of a folder, and says on which",
  { timeout: 60_000 },
  async () => {
    const pages: Record<string, SiteAnswer> = {
      "/help/": html('<h1>Help</h1><p>Welcome to the help.</p><a href="returns">Returns</a>', "Help"),
      "/help/returns": html("<h1>Returns</h1><p>You may return a mug within thirty days.</p>", "Returns"),
    };
    const { origin } = await openSite(pages);
    const { whole, operator, ask, source, isRead } = await open(readingModel);
    expect(spoken(await ask("How long may I return a mug?"))).toBe("I have nothing to look into.");
    const folder = folderWith({ "delivery.md": "# Delivery\n\nWe deliver on working days, in a van.\n" });
    for (const added of [
      { name: "help", url: `${origin}/help/`, every: "1h" },
      { name: "rules", folder },
    ])
      expect((await operator("POST", "knowledge", added)).status).toBe(201);
    await isRead("help");
    await isRead("rules");

    const lines = await ask("How long may I return a mug?");
    const returns = { title: "Returns", url: `${origin}/help/returns` };
    expect(lines.slice(0, 2)).toEqual([
      { type: "step", id: "search_knowledge", phase: "running", text: "Looking it up" },
      { type: "step", id: "search_knowledge", phase: "done", text: "Looking it up", sources: [returns] },
    ]);
    expect(spoken(lines)).toBe("You may return a mug within thirty days.");
    expect(spoken(await ask("Do you deliver on Sundays?"))).toBe("We deliver on working days, in a van.");

    const history = await whole.ask({
      path: "/v1/threads/t1/messages?userId=ada",
      headers: { authorization: "Bearer test-transport-key" },
    });
    expect((history.json() as { items: object[] }).items.slice(-3)).toMatchObject([
      {
        role: "assistant",
        steps: [{ id: "search_knowledge", phase: "done", text: "Looking it up" }],
        sources: [returns],
      },
      { role: "user" },
      { role: "assistant", sources: [{ title: "Delivery", url: "delivery.md" }] },
    ]);

    const tried = (await operator("POST", "knowledge/search", { query: "return a mug" })).json() as {
      items: object[];
    };
    const text = "You may return a mug within thirty days.";
    expect(tried.items[0]).toEqual({ ...returns, text, score: expect.any(Number) as number });

    // What changes is answered from after the next sync; what is gone goes; a site that is away leaves what it had.
    pages["/help/returns"] = html(
      "<h1>Returns</h1><p>You may return a mug within ninety days.</p>",
      "Returns",
    );
    const before = (await source("help")).readAt;
    expect((await operator("POST", "knowledge/sync", { name: "help" })).status).toBe(202);
    await until("help is read again", async () => (await source("help")).readAt !== before);
    expect(spoken(await ask("How long may I return a mug?"))).toBe(
      "You may return a mug within ninety days.",
    );

    pages["/help/"] = html("<h1>Help</h1><p>Welcome to the help.</p>", "Help");
    delete pages["/help/returns"];
    await operator("POST", "knowledge/sync");
    await until("the page is gone", async () => (await source("help")).pages === 1);
    expect(spoken(await ask("How long may I return a mug?"))).toBe("I do not know.");

    delete pages["/help/"];
    await operator("POST", "knowledge/sync", { name: "help" });
    await until("help has a fault", async () => (await source("help")).fault !== null);
    expect(await source("help")).toMatchObject({
      state: "failed",
      pages: 1,
      fault: "its first page cannot be read: it is not there: status 404",
    });

    expect((await operator("DELETE", "knowledge/help")).status).toBe(204);
    expect((await operator("GET", "knowledge/help")).status).toBe(404);
    await until("nothing is left of it", async () => {
      const { sources } = await whole.store.knowledge!.sources("cli");
      return sources.map(({ name }) => name).join() === "rules";
    });
  },
);

test("without KNOWLEDGE_PRIVATE no private address and no place on the disk is read", async () => {
  const { operator, whole } = await open(readingModel, { KNOWLEDGE_PRIVATE: "off" });
  for (const [place, why] of [
    [{ url: "http://127.0.0.1:9/" }, "has no public address"],
    [{ sitemap: "http://10.0.0.1/sitemap.xml" }, "has no public address"],
    [{ folder: "/etc" }, "is on the disk"],
    [{ file: "/etc/passwd" }, "is on the disk"],
  ] as const) {
    const refused = await operator("POST", "knowledge", { name: "secrets", ...place });
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(why) as string]);
    const patched = await patch(whole, { knowledge: { sources: [{ name: "secrets", ...place }] } });
    expect([patched.status, patched.text]).toEqual([422, expect.stringContaining(why) as string]);
  }
});

/** What an embeddings model might say of texts: whether they are of money, of time, of animals. */
const THEMES = [/refund|money|paid/i, /day|time|late/i, /dog|cat|pet/i];
const meaningOf = (text: string) => THEMES.map((theme) => (theme.test(text) ? 1 : 0.05));

test("documents are found by their meaning, and by their words where that cannot be asked for", async () => {
  let isAway = false;
  const { whole, operator, isRead } = await open((request) => {
    if (!request.path.endsWith("/embeddings")) return readingModel(request);
    if (isAway) return [status(400)];
    const { input } = request.body as unknown as { input: string[] };
    const data = input.map((text, index) => ({ index, embedding: meaningOf(text) }));
    return [status(200, {}, JSON.stringify({ data, model: "m", object: "list", usage: {} }))];
  });
  const folder = folderWith({
    "a.md": "# Terms\n\nWhoever is not happy gets what was paid.\n",
    "b.md": "# Pets\n\nDogs are welcome in the shop, and get a refund of love.\n",
  });
  const knowledge = { sources: [{ name: "rules", folder }], embeddings: "any-embeddings" };
  expect((await patch(whole, { knowledge })).status).toBe(200);
  await isRead("rules");
  const found = async (query: string) =>
    (
      (await operator("POST", "knowledge/search", { query })).json() as { items: { url: string }[] }
    ).items.map(({ url }) => url);
  expect(await found("My money, please")).toEqual(["a.md", "b.md"]);
  isAway = true;
  expect(await found("My money, please")).toEqual([]);
  expect(await found("What was paid?")).toEqual(["a.md"]);

  // A page whose meaning cannot be known now is read later; what it had stays.
  writeFileSync(join(folder, "a.md"), "# Terms\n\nNobody gets anything.\n");
  await operator("POST", "knowledge/sync");
  await until("the failure is told", async () => {
    const { failures } = (await operator("GET", "knowledge/rules")).json() as SourceView;
    return failures.some(({ url, why }) => url === "a.md" && why.includes("its meaning cannot be known"));
  });
  expect(await found("What was paid?")).toEqual(["a.md"]);
  isAway = false;
  await operator("POST", "knowledge/sync");
  await until("it is read", async () => (await found("Nobody"))[0] === "a.md");
});

async function patch(whole: Awaited<ReturnType<typeof openWhole>>, change: object) {
  return whole.ask({
    method: "PATCH",
    path: "/v1/operator/channels/cli",
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(change),
  });
}
