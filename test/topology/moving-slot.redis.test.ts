// For src/stores/engines/redis/cluster/
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tables } from "../../src/stores/tables.ts";
import type { Store } from "../../src/store.ts";
import { checkInvariants } from "../stores/twin/invariants.ts";
import { createReference } from "../stores/twin/reference.ts";
import { dumpRedis } from "../stores/dump-store.ts";
import type { ClusterNode } from "../support/stores/cluster-node.ts";
import { startReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import type { ReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import { openMove } from "../support/stores/slot-move.ts";
import { storeForTest } from "./opened.ts";
import { channelSteps, lookAt, threadSteps } from "./steps.ts";
import type { Place, Step } from "./steps.ts";

/*
 * A slot that moves is half here and half there for as long as its keys take: seconds, where they are many. Redis then
 * refuses steps over several keys unless it finds all of them in one place, those that do not exist included.
 */
let cluster: ReplicatedCluster;

beforeAll(async () => {
  cluster = await startReplicatedCluster();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  for (const { orders } of await cluster.primaries()) await orders.send("FLUSHALL");
});

/** Which of the keys that are there have moved already: none, all, each one alone, all but each one. */
function choices(keys: string[]): string[][] {
  const alone = keys.map((key) => [key]);
  const allBut = keys.map((key) => keys.filter((other) => other !== key));
  const chosen = [[], keys, ...alone, ...allBut].map((some) => some.join(" "));
  return [...new Set(chosen)].map((some) => some.split(" ").filter((key) => key !== ""));
}

function tagOf(step: Step, { slug, uid }: Place): string {
  return channelSteps.includes(step) ? tables.channel.key(slug) : tables.header.key(uid);
}

/**
 * One direction at a time: two nodes that hand keys to each other wait for each other, each until its time is up.
 * Each place is in a slot of its own.
 */
async function* placesAt(step: Step, from: ClusterNode): AsyncGenerator<Place> {
  // Two hash tags may well fall into one slot.
  const slots = new Set<unknown>();
  for (let i = 0; ; i++) {
    const place = { slug: `shop-${i}`, uid: `t${i}` };
    const tag = tagOf(step, place);
    const slot = await from.orders.send("CLUSTER", "KEYSLOT", tag);
    if (slots.has(slot) || (await cluster.primaryOf(tag)) !== from) continue;
    slots.add(slot);
    yield place;
  }
}

/**
 * The step on a slot that the nth choice of its keys has left: what differs from the reference, in one sentence; empty
 * where nothing does, null where there are not so many choices.
 */
async function tryStep(
  store: Store,
  step: Step,
  { place, to, nth }: { place: Place; to: ClusterNode; nth: number },
): Promise<string | null> {
  const reference = createReference({ now: () => 0, elapsed: () => 0 });
  await step.before(reference, place);
  const expected = [await step.take(reference, place), await lookAt(reference, place)];

  await step.before(store, place);
  const move = await openMove(cluster, tagOf(step, place), { to });
  const moved = choices((await move.left()).sort())[nth] ?? null;
  if (moved) await move.carry(moved);
  const answer = moved && (await step.take(store, place).catch(String));
  await move.finish();
  if (!moved) return null;
  const found = [answer, await lookAt(store, place).catch(String)];
  if (isDeepStrictEqual(found, expected)) return "";
  const [what, difference] = isDeepStrictEqual(answer, expected[0])
    ? ["kept", found[1]]
    : ["answered", answer];
  return `without ${moved.join(" ") || "nothing"}: ${what} ${JSON.stringify(difference)}`;
}

const AT_ONCE = 8;
/** More of them would say nothing new. */
const FAULTS_ENOUGH = 5;

/** Slots go back and forth between two primaries, so that neither runs out of them. */
let turn = 0;

async function tryAll(step: Step): Promise<string[]> {
  const store = await storeForTest(cluster.urls);
  const [one, other] = await cluster.primaries();
  const [from, to] = turn++ % 2 === 0 ? [one, other] : [other, one];
  if (!from || !to) throw new Error("Cannot move a slot: there are no two primaries");
  const places = placesAt(step, from);
  const faults: string[] = [];
  for (let done = 0; faults.length < FAULTS_ENOUGH; done += AT_ONCE) {
    const trying = [];
    for (let i = 0; i < AT_ONCE; i++) {
      const { value: place } = await places.next();
      trying.push(tryStep(store, step, { place, to, nth: done + i }));
    }
    const outcomes = await Promise.all(trying);
    faults.push(...outcomes.filter((outcome) => outcome !== null && outcome !== "").map(String));
    if (outcomes.includes(null)) break;
  }
  return faults;
}

/** What does not fit together in the whole cluster. */
async function wrongInside(): Promise<string[]> {
  return checkInvariants(await dumpRedis((await cluster.primaries()).map(({ url }) => url)));
}

describe("while a slot moves, every step is done as ever, whichever keys have moved already", () => {
  it.each([...channelSteps, ...threadSteps].map((step) => [step.name, step] as const))(
    "%s",
    async (_, step) => {
      expect(await tryAll(step)).toEqual([]);
      expect(await wrongInside()).toEqual([]);
    },
  );
});
