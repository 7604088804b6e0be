// For src/domain/versions.ts, src/charts/
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  createThread,
  createVisitor,
  terminalOf,
  textOf,
  visitorHeaders,
} from "../faults/history/client.ts";
import type { Heard } from "../faults/history/client.ts";
import { replyTo } from "../faults/victims/echo-model.ts";
import { startMixedFleet } from "./fleet/mixed-fleet.ts";
import type { Builds, MixedFleet } from "./fleet/mixed-fleet.ts";
import { buildVersion } from "./next/build-version.ts";
import { MARK, NEXT_VERSION } from "./next/changes.ts";

/** P8: this version (A) leaves alone what only the next one (B, next/changes.ts) reads. Slow because whole services start. */
const WITHIN = { timeout: 60_000, interval: 100 };
/** In this time it takes over what it may. */
const LOOKS_MS = 5_000;

let builds: Builds;
beforeAll(() => {
  builds = { present: buildVersion(), next: buildVersion(NEXT_VERSION) };
});

interface Visitor {
  threadId: string;
  headers: Record<string, string>;
}

async function start() {
  const fleet = await startMixedFleet({ on: "redis", builds, versions: ["present", "next"] });
  onTestFinished(() => fleet.close());
  const [a = "", b = ""] = fleet.victims.map(({ url }) => url);
  return { fleet, a, b };
}

async function enter(url: string): Promise<Visitor> {
  const token = String((await createVisitor(url)).value["visitorToken"]);
  const threadId = String((await createThread(url, token)).value["threadId"]);
  return { threadId, headers: visitorHeaders(token) };
}

function say(url: string, { threadId, headers }: Visitor, text: string, onLine = () => {}): Promise<Heard> {
  return ask(url, "/v1/widget/messages", { headers, body: { threadId, text }, onLine });
}

function follow(url: string, { threadId, headers }: Visitor): Promise<Heard> {
  return ask(url, `/v1/widget/threads/${threadId}/stream`, { method: "GET", headers });
}

/** A run that the model holds after its first words. */
async function holdRun({ model }: MixedFleet, url: string, visitor: Visitor, text: string) {
  model.hold(text);
  const end = new Promise<Heard>((resolve, reject) => {
    const heard = say(url, visitor, text, () => begins());
    heard.then(resolve, reject);
  });
  let begins = () => {};
  await new Promise<void>((resolve) => (begins = resolve));
  return { end };
}

const contents = async ({ read }: MixedFleet, { threadId }: Visitor) =>
  (await read.items(threadId)).map(({ content }) => content);

const isLeftAlone = ({ status, retryAfter }: Heard) => status === 503 && retryAfter !== undefined;

describe("a thread of a newer version", () => {
  test("is taken over by none of this one when its process dies, and goes on with the next that reads it", async () => {
    const { fleet, a, b } = await start();
    const [newer, plain] = [await enter(b), await enter(b)];
    const text = `Wait ${MARK}`;
    await holdRun(fleet, b, newer, text);
    await holdRun(fleet, b, plain, "Wait");
    await fleet.victims[1]?.kill9();

    fleet.model.release("Wait");
    // What it reads it takes over.
    await expect.poll(async () => terminalOf(await follow(a, plain))?.type, WITHIN).toBe("done");
    const endsAt = performance.now() + LOOKS_MS;
    while (performance.now() < endsAt) {
      expect(await say(a, newer, "Are you there?")).toSatisfy(isLeftAlone);
      expect(await follow(a, newer)).toSatisfy(isLeftAlone);
      const { threadId, headers } = newer;
      const cancelled = await ask(a, `/v1/widget/threads/${threadId}/cancel`, { headers });
      expect(cancelled).toSatisfy(isLeftAlone);
    }
    const told = fleet.victims[0]?.said().split("\n") ?? [];
    expect(told.filter((line) => line.includes("left a thread alone"))).toHaveLength(1);

    await fleet.replace(1, "next");
    fleet.model.release(text);
    await expect.poll(() => contents(fleet, newer), WITHIN).toEqual([text, replyTo(text)]);
    expect(await contents(fleet, plain)).toEqual(["Wait", replyTo("Wait")]);
    expect((await fleet.read.items(newer.threadId)).map(({ mark }) => mark)).toEqual([
      "important",
      "important",
    ]);
    expect(textOf(await say(b, newer, "And now?"))).toBe(replyTo("And now?"));
    // By then nothing in it is newer.
    expect(textOf(await say(a, newer, "And here?"))).toBe(replyTo("And here?"));
    expect(fleet.complaints()).toEqual([]);
  });

  test("ends a stream of this version that waits for its turn in it; nothing unknown is in it", async () => {
    const { fleet, a, b } = await start();
    const visitor = await enter(a);
    const held = await holdRun(fleet, b, visitor, "First");
    const text = `Then ${MARK}`;
    let isTaken = false;
    const { threadId, headers } = visitor;
    const body = { threadId, text };
    const waits = ask(a, "/v1/widget/messages", { headers, body, onStatus: () => void (isTaken = true) });
    await expect.poll(() => isTaken, WITHIN).toBe(true);
    fleet.model.hold(text);
    fleet.model.release("First");
    expect(terminalOf(await held.end)?.type).toBe("done");
    await fleet.model.held(text);
    const heard = await waits;
    expect(heard.lines).toEqual([expect.objectContaining({ type: "error", code: "interrupted" })]);
    expect(await follow(a, visitor)).toSatisfy(isLeftAlone);
    fleet.model.release(text);
    await expect
      .poll(() => contents(fleet, visitor), WITHIN)
      .toEqual(["First", replyTo("First"), text, replyTo(text)]);
    expect(fleet.complaints()).toEqual([]);
  });

  test("keeps its fields where this one writes: a rating of a marked reply, once the thread is no newer any more", async () => {
    const { fleet, a, b } = await start();
    const visitor = await enter(a);
    await say(b, visitor, `Hello ${MARK}`);
    expect(await say(a, visitor, "Hello")).toSatisfy(isLeftAlone);
    await say(b, visitor, "Hello");
    const { threadId, headers } = visitor;
    const rating = { messageId: "2", rating: "up" };
    const rated = await ask(a, `/v1/widget/threads/${threadId}/feedback`, { headers, body: rating });
    expect(rated.status).toBe(204);
    expect((await fleet.read.items(threadId))[1]).toMatchObject({
      mark: "important",
      feedback: { rating: "up" },
    });
    expect(fleet.complaints()).toEqual([]);
  });
});
