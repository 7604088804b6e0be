// For src/threads/following/, src/operators/threads/watch-thread.ts, src/operators/threads/machine-view.ts
import { expect, test } from "vitest";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { callIdOf, enterShop, startShop } from "../console/shop-service.ts";
import { call, hold, say } from "../support/servers/model-server.ts";
import { sendMessage } from "../support/servers/service.ts";
import { watch } from "./watch.ts";

const uid = threadUid("cli", "ada", "t1");
const SAID = { threadId: "t1", userId: "ada", text: "Hello" };

test("a watch tells of a run while it is there, to its end", async () => {
  const { service, server } = await startShop([[say("Hel"), hold(), say("lo")]]);
  const sent = sendMessage(service.url, SAID);
  await server.held();
  const { sights, states, spoken } = await watch(service.url, "cli", uid);
  await expect.poll(spoken).toBe("Hel");
  server.release();
  await sent;
  await expect.poll(states).toEqual(["running.thinking", "idle"]);
  expect(spoken()).toBe("Hello <done> ");
  const runs = sights().flatMap((sight) => (sight.type === "runs" ? sight.runs : []));
  expect(runs.at(-1)?.path.map(({ event, state }) => [event, state])).toEqual([
    ["user.said", "running.thinking"],
    ["agent.finished", "idle"],
  ]);
});

test("a watch goes on over page calls, each in a stream of its own, and shows no visitor token (P15)", async () => {
  const { service } = await startShop([[call("cart")], "Two teas"]);
  const shop = await enterShop(service.url, "cart");
  const callId = callIdOf(await shop.say("What is in my cart?"));
  const { told, states, spoken } = await watch(service.url, "shop", shop.threadId);
  await expect.poll(spoken).toBe(" <step>  <tool_call> ");
  await shop.answer(callId, "two teas");
  // Whether the watch looked while the model was asked depends on how fast that is.
  const rested = () => states().filter((state) => !state.startsWith("running"));
  await expect.poll(rested).toEqual(["awaitingPageTool", "idle"]);
  await expect.poll(spoken).toContain("Two teas <done> ");
  expect(told.text).not.toContain(shop.visitorToken);
});

test("a watch shortens what is long, so that it is no slow reader of its own", async () => {
  const { service } = await startShop(() => [say("word ".repeat(600_000))]);
  await sendMessage(service.url, SAID);
  const { told, states, spoken } = await watch(service.url, "cli", uid);
  await expect.poll(states).toEqual(["idle"]);
  await expect.poll(spoken).toContain("<done>");
  expect(told.text.length).toBeLessThan(30_000);
  expect(told.over).toBe(false);
});
