import { expect, onTestFinished, test } from "vitest";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { hashKey } from "../../src/keys.ts";
import { Secret } from "../../src/secret.ts";
import { ask, identify, terminalOf } from "../faults/client.ts";
import type { Heard } from "../faults/client.ts";
import { TRANSPORT, WEB } from "../faults/fault-channels.ts";
import { checkInvariants } from "../stores/invariants.ts";
import { dumpRedis } from "../support/dump-redis.ts";
import { startMixedFleet } from "./mixed-fleet.ts";
import { FIRST_RELEASE, hasCommit, oldVersion } from "./old-version.ts";
import { readRedis } from "./redis-records.ts";
import { HERE } from "./service-process.ts";
import {
  allAnswers,
  begun,
  CANARY,
  enters,
  goesOnTalking,
  historyByName,
  holdsTexts,
  isAnswered,
  mustEnd,
  reads,
  says,
  saysByName,
  surely,
  taken,
  visits,
} from "./talks-beside.ts";
import type { OpenStream, Visitor } from "./talks-beside.ts";

/**
 * P36 beside 0.1.0, which knows nothing of deletion: it streams a run, reads along, holds a queue, and is talked to, while this
 * version deletes what it works on. Slow because whole services start; `UPGRADE=full` plays it on a cluster too, with another
 * instance of 0.1.0, and waits until what the instances do by themselves is over.
 */
const isFull = process.env["UPGRADE"] === "full";
const isThere = hasCommit(FIRST_RELEASE);
const where = isThere ? "" : ` (left out: this copy has no history with ${FIRST_RELEASE})`;

/** After that, who deletes looks once more at what was written meanwhile. */
const SETTLED_MS = 60_000;
const WITHIN = { timeout: 300_000, interval: 100 };
const OPERATOR_KEY = new Secret("op_who_deletes");

const PLACES: ("redis" | "cluster")[] = isFull ? ["redis", "cluster"] : ["redis"];

async function startBeside(on: "redis" | "cluster") {
  const old = oldVersion(FIRST_RELEASE);
  const fleet = await startMixedFleet({ on, checkouts: [old, HERE, ...(isFull ? [old] : [])] });
  onTestFinished(() => fleet.close());
  const keyHash = hashKey(OPERATOR_KEY);
  await fleet.store.addOperator({ name: "ann", role: "admin", channels: null, keyHash });
  const urlOf = (index: number) => fleet.victims[index]?.url ?? "";
  const headers = { authorization: `Bearer ${OPERATOR_KEY.reveal()}` };

  function asOperator(method: "GET" | "DELETE", path: string): Promise<Heard> {
    return surely(() => ask(urlOf(1), `/v1/operator/channels/${path}`, { method, headers }));
  }
  // It learns of who was added.
  await expect.poll(async () => (await asOperator("GET", `${WEB}/threads`)).status, WITHIN).toBe(200);

  /** 404: a first try, whose answer was lost, has done it. */
  async function remove(path: string): Promise<void> {
    expect([202, 404]).toContain((await asOperator("DELETE", path)).status);
  }

  async function keysWith(text: string): Promise<string[]> {
    const records = (await Promise.all(fleet.redisUrls.map(readRedis))).flat();
    return records.filter((record) => JSON.stringify(record).includes(text)).map(({ key }) => key);
  }

  return {
    fleet,
    before: urlOf(0),
    beforeToo: urlOf(isFull ? 2 : 0),
    now: urlOf(1),
    remove,
    keysWith,
    userOf: async ({ threadId }: Visitor) =>
      String((await asOperator("GET", `${WEB}/threads/${threadId}`)).value["userId"]),
    /** All deletions are carried out, and what came late is gone. */
    settled: async () => {
      if (!isFull) await fleet.replace(1, HERE, Date.now() + SETTLED_MS);
      await expect.poll(() => keysWith("").then((keys) => keys.includes("deleting:{g}")), WITHIN).toBe(false);
    },
  };
}

const gone = (status: 401 | 404) => Array.from({ length: 6 }, () => status);

test.skipIf(!isThere).each(PLACES)(
  `P36: what this version deletes is gone, whatever 0.1.0 holds, reads or is told of it meanwhile, on %s${where}`,
  { timeout: 3_600_000 },
  async (on) => {
    const { fleet, before, beforeToo, now, remove, keysWith, userOf, settled } = await startBeside(on);
    const { hold, releaseAll } = holdsTexts(fleet.model);
    const door = { url: before, present: now };
    /** A run at `holder`, somebody who reads along at `other`, and a message that waits for it at 0.1.0. */
    const runsAt = (holder: string, other: string, name: string) =>
      visits(door, async (visitor, nth): Promise<OpenStream[]> => {
        const text = hold(`${CANARY} ${name} ${nth}`);
        return [
          await begun((more) => says(holder, visitor, text, more)),
          await begun((more) => reads(other, visitor, "stream", more)),
          await taken((more) => says(before, visitor, `${CANARY} waits`, more)),
        ];
      });
    const rests = (more = "") =>
      visits(door, async (visitor) => {
        mustEnd(await says(before, visitor, `${CANARY} rests`), "done");
        if (more !== "") mustEnd(await says(before, visitor, `${CANARY}${more}`), "tool_call");
      });

    /** One whose conversation did not begin is deleted. */
    async function talksByName(who: string, begin: (name: string) => Promise<void>): Promise<string> {
      for (let nth = 1; ; nth++) {
        const name = `${who}-${nth}`;
        try {
          await begin(name);
          return name;
        } catch (error) {
          if (nth === 20) throw error;
          await remove(`${TRANSPORT}/users/${name}`);
        }
      }
    }

    /** 0.1.0 takes what is said by the name for the deleted thread's, whose uid follows from it. */
    async function isLost(name: string): Promise<void> {
      const heard = await surely(() => saysByName(before, name, `${CANARY} is lost`));
      expect(terminalOf(heard)?.type).toBe("error");
    }

    const heldBefore = await runsAt(before, now, "held by 0.1.0");
    const readBefore = await runsAt(now, before, "read along at 0.1.0");
    const readTwice = await runsAt(before, beforeToo, "held and read along at 0.1.0");
    const ofUser = await runsAt(before, now, "of a user");
    const pending = await rests(" #calls cart");
    const [talking, linked, merged] = [await rests(), await rests(), await rests()];
    const racing = [await rests(), await rests(), await rests()];
    for (const { visitor } of [linked, merged]) {
      expect((await surely(() => identify(before, visitor.token, "kim"))).status).toBe(200);
    }
    const streams = [heldBefore, readBefore, readTwice, ofUser].flatMap(({ begun: open }) => open);
    const ada = await talksByName("ada", async (name) => {
      const text = hold(`${CANARY} of ${name}`);
      streams.push(await begun((more) => saysByName(before, name, text, more)));
    });
    for (const name of ["bob", "cleo", "dora"])
      await isAnswered((text) => saysByName(before, name, text), CANARY);
    expect((await keysWith(CANARY)).length).toBeGreaterThan(10);

    const userId = await userOf(ofUser.visitor);
    const racingIds = await Promise.all(racing.map(({ visitor }) => userOf(visitor)));
    const goingOn = goesOnTalking(before, talking.visitor);
    const threads = [heldBefore, readTwice, pending, talking].map(({ visitor }) => visitor);
    for (const { threadId } of threads) await remove(`${WEB}/threads/${threadId}`);
    const { threadId, headers } = readBefore.visitor;
    const own = await surely(() => ask(now, `/v1/widget/threads/${threadId}/delete`, { headers }));
    expect([204, 404]).toContain(own.status);
    await remove(`${WEB}/users/${userId}`);
    await remove(`${WEB}/users/kim`);
    // Whichever comes first: what was merged goes with the account.
    const raced = racing.map(({ visitor }, nth) =>
      Promise.all([
        surely(() => identify(before, visitor.token, "lee")),
        remove(`${WEB}/users/${racingIds[nth]}`),
      ]),
    );
    for (const [{ status }] of await Promise.all(raced)) expect([200, 404]).toContain(status);
    await remove(`${WEB}/users/lee`);
    await remove(`${TRANSPORT}/threads/${threadUid(TRANSPORT, ada, "t")}`);
    for (const name of ["cleo", "dora"]) {
      await remove(`${TRANSPORT}/threads/${threadUid(TRANSPORT, name, "t")}`);
    }
    // Nobody says anything by this name to another instance before all is settled.
    await isLost("cleo");
    await remove(`${TRANSPORT}/users/bob`);

    expect(await goingOn).toEqual([404, 404]);
    for (const visitor of [...threads, readBefore.visitor]) {
      for (const url of [before, beforeToo, now]) expect(await allAnswers(url, visitor)).toEqual(gone(404));
    }
    for (const { visitor } of [ofUser, linked, merged, ...racing]) {
      for (const url of [before, beforeToo, now]) expect(await allAnswers(url, visitor)).toEqual(gone(401));
      expect((await surely(() => identify(before, visitor.token, "kim"))).status).toBe(404);
    }
    releaseAll();
    for (const { end } of streams) expect(terminalOf(await end)?.type).toBe("error");

    for (const name of [ada, "bob"]) {
      expect((await historyByName(now, name)).status).toBe(404);
      await isLost(name);
      await isAnswered((text) => saysByName(now, name, text));
      await isAnswered((text) => saysByName(before, name, text));
      expect((await historyByName(now, name)).text).not.toContain(CANARY);
    }
    const again = await enters(before);
    expect((await surely(() => identify(before, again.token, "kim"))).status).toBe(200);
    for (const url of [before, now]) await isAnswered((text) => says(url, again, text));

    await settled();
    expect(await keysWith(CANARY)).toEqual([]);
    // What is lost later is gone when this version is told something by the name, or deletes the user.
    await isLost("cleo");
    await isLost("dora");
    await remove(`${TRANSPORT}/users/dora`);
    await isAnswered((text) => saysByName(now, "cleo", text));
    await isAnswered((text) => saysByName(before, "cleo", text));
    expect(await keysWith(CANARY)).toEqual([]);
    await Promise.all(fleet.victims.map((victim) => victim.stop()));
    expect(await keysWith(CANARY)).toEqual([]);
    // Tokens that 0.1.0 has made or bound are on no list: they admit nobody, as was seen, and expire by themselves.
    const isOfToken = (fault: string) => fault.startsWith("a token leads to no user");
    const faults = checkInvariants(await dumpRedis(fleet.redisUrls));
    expect(faults.filter((fault) => !isOfToken(fault))).toEqual([]);
  },
);
