// For src/domain/people/, src/http/server-api/
import { expect, test } from "vitest";
import { pageCall } from "../../threads/scripted-agent.ts";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY, startService } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

/** A page that waits for its tool, and an account whose backend has used the page's id for a thread of its own. */
async function sameNames() {
  const service = await startService();
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const theirs = service.post(
    "/v1/messages",
    { channel: "shop", threadId, userId: "account-7", text: "from the backend" },
    { headers: bearer },
  );
  (await service.agent.turn()).finish();
  await (await theirs).text();
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const mine = service.post("/v1/widget/messages", { threadId, text: "from the page" }, { headers });
  (await service.agent.turn()).call(pageCall("call-1"));
  await (await mine).text();
  const said = async (name: string, by: string) => {
    const path = `/v1/widget/threads/${encodeURIComponent(name)}/messages`;
    const got = await service.ask({ path, headers: { origin: ORIGIN, "x-visitor-token": by } });
    return ((await got.json()) as { items: { content: string }[] }).items[0]?.content;
  };
  const identify = async (more: object = {}) => {
    const body = { visitorToken: token, externalUserId: "account-7", ...more };
    const asBackend = { headers: { authorization: `Bearer ${SECRET_KEY}` } };
    return (await service.post("/v1/channels/shop/identify", body, asBackend)).json();
  };
  return { service, token, threadId, headers, said, identify };
}

test("a page whose thread's name the account has too goes on with its own conversation", async () => {
  const { service, token, threadId, headers, said, identify } = await sameNames();
  expect(await identify()).toMatchObject({ merged: true });

  const result = { threadId, callId: "call-1", tool: "cart", result: "two mugs" };
  const resumed = await service.post("/v1/widget/tool-results", result, { headers });
  expect(resumed.status).toBe(200);
  // Two threads of one millisecond would be in no order.
  service.clock.nowMs += 1_000;
  (await service.agent.turn()).finish();
  expect((await resumed.lines()).at(-1)).toMatchObject({ type: "done" });
  expect(await said(threadId, token)).toBe("from the page");

  // The other one is there under the other name, and the list says which is which.
  expect(await said(`${threadId}~2`, token)).toBe("from the backend");
  const list = await service.ask({ path: "/v1/widget/threads", headers });
  const { items } = (await list.json()) as { items: { threadId: string }[] };
  expect(items.map((item) => item.threadId).toSorted()).toEqual([threadId, `${threadId}~2`]);

  // The backend's name leads where it did.
  const path = `/v1/threads/${threadId}/messages`;
  const query = "channel=shop&userId=account-7";
  const theirs = await service.ask({ path, query, headers: bearer });
  expect(await theirs.text()).toContain("from the backend");
});

test("a token that takes its place knows the names too, and another token of the account does not", async () => {
  const { service, threadId, said, identify } = await sameNames();
  const { visitorToken } = (await identify({ rotate: true })) as { visitorToken: string };
  expect(await said(threadId, visitorToken)).toBe("from the page");
  const other = await service.newToken();
  await identify({ visitorToken: other });
  expect(await said(threadId, other)).toBe("from the backend");
  expect(await said(`${threadId}~2`, other)).toBe("from the page");
});
