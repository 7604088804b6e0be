// For src/stores/records/, src/charts/
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { Secret } from "../../src/secret.ts";
import { openStore } from "../../src/installation/open-store.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import type { Store } from "../../src/store.ts";
import { folderInMemory } from "../support/stores/data-dir.ts";
import { lastUserText } from "../support/servers/model-server.ts";
import type { ModelServer } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { openTestService, ROOMY_LIMITS } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";
import { act, openPage, sendMessage } from "./fleet/api.ts";
import type { ReadStream } from "./fleet/client.ts";
import { startEchoingModel, toldHistory } from "./fleet/echoing-model.ts";
import { readGoldens, shownConversation } from "./golden/golden.ts";
import type { Golden, ThreadFact } from "./golden/golden.ts";
import { saidIn } from "./fleet/go-on.ts";
import { restoreGolden } from "./golden/load-golden.ts";

const goldens = readGoldens().filter(
  ({ store, facts }) => inject("stores").includes(store) && facts.threads.some(isPersons),
);
const WITHIN = { timeout: 30_000, interval: 50 };
/** Later than the records, and before the first wait in them ends. */
const LATER_MS = 60_000;
const WAIT_MS = 600_000;
const NOBODY = /^Nobody is available/;

/** P8: threads that a person answers, as an earlier version stored them, go on from where they stood. */
describe.each(goldens)("threads of people of $version on $store", (golden) => {
  const { facts } = golden;
  const ofState = (state: ThreadFact["state"]) =>
    facts.threads.filter((thread) => thread.state === state && isPersons(thread));
  const key = facts.operators?.["ann"] ?? "";
  let model: ModelServer;
  let place: Place;
  let service: TestService;
  let aheadMs = facts.takenAtMs + LATER_MS - systemClock.now();
  const clock = { now: () => systemClock.now() + aheadMs, elapsed: () => systemClock.elapsed() };

  beforeAll(async () => {
    place = await load(golden);
    model = await startEchoingModel();
    service = await openTestService({
      env: { ...ROOMY_LIMITS, OPENAI_BASE_URL: model.baseUrl },
      harnessApiKey: new Secret(facts.transportKey),
      store: await place.open(clock),
      clock,
      channels: [],
    });
  });
  afterAll(async () => {
    await service.close();
    await service.store.close();
    await model.close();
    await place.remove();
  });

  const historyOf = ({ uid }: ThreadFact) => service.store.history(uid, { limit: 99, before: null });
  const stateOf = async ({ uid }: ThreadFact) => (await service.store.load(uid, 1))?.state;
  const acts = ({ slug, uid }: ThreadFact, what: "take" | "messages" | "return", body: object) =>
    act(service.url, key, { slug, uid, what, body });

  function say({ slug, threadId, speaker }: ThreadFact): Promise<ReadStream> {
    const text = facts.next;
    if ("userId" in speaker) {
      const backend = { url: service.url, transportKey: facts.transportKey };
      return sendMessage(backend, { channel: slug, userId: speaker.userId, threadId, text });
    }
    const token = facts.tokens.find(({ name }) => name === speaker.token)?.token ?? "";
    return openPage(service.url, { origin: facts.origin, token }).say({ threadId, text });
  }

  /** Where the model was asked to answer what is said here: runs that were left in progress go on beside. */
  const asked = () => model.requests.filter((request) => lastUserText(request) === facts.next);
  /** What it was asked with last. */
  const told = () => asked().slice(-1).flatMap(toldHistory).join("\n");

  /** A message of the thread's user, which the model answers: it was told what came before. */
  async function isAnswered(thread: ThreadFact): Promise<void> {
    const before = (await historyOf(thread))
      .map(({ content }) => content)
      .filter((content) => content !== "");
    expect(saidIn(await (await say(thread)).end())).toBe(`You said: ${facts.next}`);
    expect(missingIn(told(), [...before, facts.next])).toEqual([]);
  }

  /** One that waits for a person, or is with one: no model is asked. */
  async function isLeftToPerson(thread: ThreadFact): Promise<void> {
    const before = asked().length;
    expect(await (await say(thread)).end()).toMatchObject([{ type: "done", handledBy: "person" }]);
    expect(asked()).toHaveLength(before);
  }

  test.each(ofState("with_person"))("$name: the person goes on", async (thread) => {
    expect(await stateOf(thread)).toBe("with_person");
    const { epoch = 0 } = thread;
    await isLeftToPerson(thread);
    await expect(acts(thread, "messages", { epoch: epoch - 1, text: "Too late" })).rejects.toThrow("409");
    await acts(thread, "messages", { epoch, text: "I am still here" });
    await acts(thread, "return", { epoch, note: "All is well" });
    expect((await historyOf(thread)).map(({ content }) => content)).toEqual([
      ...shownConversation(golden, thread).messages.map(({ content }) => content),
      facts.next,
      "I am still here",
    ]);
    await isAnswered(thread);
    expect(told()).toContain("All is well");
  });

  test("those who wait are taken, with the epoch that they have, or wait on", async () => {
    const [first, ...others] = ofState("waiting_for_person");
    if (first === undefined) throw new Error("Cannot go on: nobody waits");
    for (const thread of [first, ...others]) await isLeftToPerson(thread);
    await expect(acts(first, "take", { epoch: 0 })).rejects.toThrow("409");
    await acts(first, "take", { epoch: first.epoch ?? 0 });
    expect(await stateOf(first)).toBe("with_person");
    await acts(first, "return", { epoch: (first.epoch ?? 0) + 1 });
    expect(await Promise.all(others.map(stateOf))).toEqual(others.map(() => "waiting_for_person"));
  });

  test.each(ofState("idle"))("$name: the assistant goes on", async (thread) => {
    await isAnswered(thread);
    const { epoch = 0 } = thread;
    await expect(acts(thread, "take", { epoch })).resolves.toBeUndefined();
  });

  test("whose time has passed is told that nobody came, and answered by the assistant", async () => {
    const [, ...others] = ofState("waiting_for_person");
    aheadMs += WAIT_MS;
    for (const thread of others) {
      await expect.poll(() => stateOf(thread), WITHIN).toBe("idle");
      expect((await historyOf(thread)).at(-1)?.content).toMatch(NOBODY);
      await isAnswered(thread);
    }
  });
});

/** Which have to do with a person. */
function isPersons({ epoch }: ThreadFact): boolean {
  return epoch !== undefined;
}

/** Those of the pieces that are not in the text behind the one before them. */
function missingIn(text: string, pieces: readonly string[]): string[] {
  let from = 0;
  return pieces.filter((piece) => {
    const at = text.indexOf(piece, from);
    if (at >= 0) from = at + piece.length;
    return at < 0;
  });
}

interface Place {
  open(clock: typeof systemClock): Promise<Store>;
  remove(): Promise<void>;
}

async function load(golden: Golden): Promise<Place> {
  const folder = folderInMemory();
  const redis = golden.store === "redis" ? await startRedis({ args: ["--appendonly", "no"] }) : null;
  const env = { DATA_DIR: folder, ...(redis ? { REDIS_URL: redis.url } : {}) };
  await restoreGolden(golden, env, { atMs: Date.now(), movesDeadlines: false });
  const log = createLog({ level: "error", secrets: [], destination: { write() {} } });
  return {
    // Without the time of a Redis, which is not that of the records: the clock is the test's.
    open: async (clock) => withoutTime(await openStore({ config: readConfig(env), clock, log })),
    async remove() {
      await redis?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function withoutTime(store: Store): Store {
  return { ...store, timeMs: () => null };
}
