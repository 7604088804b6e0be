// For src/http/reads.ts, src/http/history-page.ts, src/protocol/history.ts
import { describe, expect, test } from "vitest";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY, startService } from "../service.ts";
import type { Got, Service } from "../service.ts";
import { pageCall } from "../../threads/scripted-agent.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

/** A backend that says things, and reads what was said. */
async function backend(): Promise<
  Service & {
    say: (text: string, threadId?: string) => Promise<Got>;
    read: (path: string, query?: string) => Promise<Got>;
  }
> {
  const service = await startService();
  return {
    ...service,
    say: (text, threadId = "chat 1/a") =>
      service.post("/v1/messages", { threadId, userId: "ada", text }, { headers: bearer }),
    read: (path, query = "userId=ada") =>
      service.ask({ path: `/v1/threads/${path}`, query, headers: bearer }),
  };
}

const THREAD = encodeURIComponent("chat 1/a");

describe("GET /v1/threads/:threadId/messages", () => {
  test("answers what was said, oldest first, in pages, as the widget's history", async () => {
    const { say, read, agent } = await backend();
    for (const text of ["One", "Two"]) {
      const said = await say(text);
      const turn = await agent.turn();
      turn.write(`You said ${text}`);
      turn.finish();
      await said.text();
    }
    const all = (await (await read(`${THREAD}/messages`)).json()) as { items: { id: string }[] };
    expect(all.items).toMatchObject([
      { role: "user", content: "One" },
      { role: "assistant", content: "You said One" },
      { role: "user", content: "Two" },
      { role: "assistant", content: "You said Two" },
    ]);
    const { id } = all.items[2]!;
    const page = await (await read(`${THREAD}/messages`, `userId=ada&limit=1&before=${id}`)).json();
    expect(page).toEqual({ items: [all.items[1]] });
    expect(await (await read(`${THREAD}/messages`, "userId=ada&before=none")).json()).toEqual({ items: [] });
  });

  test("ends a page before it is too long, with one message at least; who pages back misses none", async () => {
    const { say, read, agent } = await backend();
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(300_000));
    for (const text of texts) {
      const said = await say(text);
      const turn = await agent.turn();
      turn.write("So it is");
      turn.finish();
      await said.text();
    }
    const pages: string[][] = [];
    for (let query = "userId=ada&limit=100"; ;) {
      const got = await read(`${THREAD}/messages`, query);
      const { items } = (await got.json()) as { items: { id: string; content: string }[] };
      if (items[0] === undefined) break;
      pages.push(items.map(({ content }) => content[0] ?? ""));
      query = `userId=ada&limit=100&before=${items[0].id}`;
    }
    expect(pages).toEqual([["S", "c", "S"], ["S", "b"], ["a"]]);
  });

  test("reads a blocked user's threads, and a visitor's under its account", async () => {
    const { read, say, agent, store, post, newToken, newThread } = await backend();
    const said = await say("Before the block");
    (await agent.turn()).finish();
    await said.text();
    const { user } = (await store.admitUser({
      slug: "cli",
      externalId: "ada",
      displayName: null,
      newUserId: "new",
      thread: null,
      creates: false,
      atMs: 0,
    }))!;
    await store.flagUser("cli", user.userId, { blocked: true });
    expect((await read(`${THREAD}/messages`)).status).toBe(200);

    const token = await newToken();
    const threadId = await newThread(token);
    const shown = await post(
      "/v1/widget/messages",
      { threadId, text: "Hi" },
      { headers: { "x-visitor-token": token } },
    );
    (await agent.turn()).finish();
    await shown.text();
    const account = { visitorToken: token, externalUserId: "account-7" };
    await post("/v1/channels/shop/identify", account, {
      headers: { authorization: `Bearer ${SECRET_KEY}` },
    });
    const got = await read(`${threadId}/messages`, "userId=account-7&channel=shop");
    expect(await got.json()).toMatchObject({ items: [{ role: "user", content: "Hi" }, {}] });
  });

  test.each([
    ["without a userId", THREAD, "", 422, "The query does not match the schema: userId"],
    ["a limit that is none", THREAD, "userId=ada&limit=0", 422, "The query does not match the schema: limit"],
    [
      "a limit that is none, of no thread",
      "chat-2",
      "userId=ada&limit=0",
      422,
      "The query does not match the schema: limit",
    ],
    ["an unknown channel", THREAD, "userId=ada&channel=nowhere", 404, "Unknown channel"],
    ["an unknown user", THREAD, "userId=bob", 404, "Unknown thread"],
    ["an unknown thread", "chat-2", "userId=ada", 404, "Unknown thread"],
    ["an id that can be none", "a".repeat(257), "userId=ada", 422, "The path holds no threadId"],
  ])("%s is refused", async (_row, thread, query, status, text) => {
    const { say, read, agent } = await backend();
    const said = await say("Hello");
    (await agent.turn()).finish();
    await said.text();
    for (const what of ["messages", "stream"]) {
      if (what === "stream" && query.includes("limit")) continue;
      const got = await read(`${thread}/${what}`, query);
      expect([got.status, await got.text()]).toEqual([status, text]);
    }
  });

  test("a wrong key, and a page's token, read nothing", async () => {
    const { ask, newToken } = await backend();
    const token = await newToken();
    for (const headers of [{}, { authorization: "Bearer x" }, { origin: ORIGIN, "x-visitor-token": token }]) {
      const got = await ask({ path: `/v1/threads/${THREAD}/messages`, query: "userId=ada", headers });
      expect([got.status, await got.text()]).toEqual([401, "Unauthorized"]);
    }
  });
});

describe("GET /v1/threads/:threadId/stream", () => {
  test("answers the active run, then the last one, or the one that is named; 204 before there was one", async () => {
    const { say, read, agent } = await backend();
    const one = await say("One");
    const turn = await agent.turn();
    turn.write("First");
    const live = await read(`${THREAD}/stream`);
    turn.write(" and last");
    turn.finish();
    const lines = await one.lines();
    expect((await live.lines()).at(-1)).toEqual(lines.at(-1));
    expect(live.headers["x-run-id"]).toBe(one.headers["x-run-id"]);

    const two = await say("Two");
    (await agent.turn()).finish();
    const last = await two.lines();
    expect(await (await read(`${THREAD}/stream`)).lines()).toEqual(last);
    const named = await read(`${THREAD}/stream`, `userId=ada&run=${one.headers["x-run-id"]}`);
    expect(await named.text()).toContain("First and last");
    const none = await read(`${THREAD}/stream`, "userId=ada&run=none");
    expect([none.status, await none.text()]).toEqual([404, "The thread has no such run"]);
  });

  test("tells a web thread's tool_call", async () => {
    const { post, read, agent, newToken, newThread } = await backend();
    const token = await newToken();
    const threadId = await newThread(token);
    const said = await post(
      "/v1/widget/messages",
      { threadId, text: "A mug" },
      { headers: { "x-visitor-token": token } },
    );
    (await agent.turn()).call(pageCall("c1"));
    await said.text();
    const account = { visitorToken: token, externalUserId: "account-7" };
    await post("/v1/channels/shop/identify", account, {
      headers: { authorization: `Bearer ${SECRET_KEY}` },
    });
    const got = await read(`${threadId}/stream`, "userId=account-7&channel=shop");
    expect((await got.lines()).at(-1)).toMatchObject({ type: "tool_call", callId: "c1" });
  });
});
