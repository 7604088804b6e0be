// For src/stores/engines/redis/
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { redisClient } from "../support/stores/redis-client.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import { until } from "../support/until.ts";
import { startFleet } from "./history/fleet.ts";
import { mustHave } from "./history/instances.ts";
import { isFull, lengthOf } from "./lengths.ts";
import { startTalks } from "./flaky/talks.ts";
import { startTcpProxy } from "./victims/tcp-proxy.ts";
import type { TcpProxy } from "./victims/tcp-proxy.ts";
import { killVictims } from "./victims/victims.ts";
import { startWorkload } from "./history/workload.ts";

/** P26: a primary dies while its replica hears nothing from it any more, and the replica takes its place. */
const FAILOVERS = lengthOf("FAULTS_FAILOVERS", { short: 1, full: 10 });
/** Threads in which a visitor talks with an operator meanwhile. */
const TALKS = 3;
const AT_ONCE = ["--repl-diskless-sync-delay", "0"];

afterAll(() => killVictims());

/** Rounds of writing, death and promotion; answers what the checker found. */
async function failOver(
  durability: "local" | "replica",
): Promise<{ faults: string[]; acknowledged: number; talked: number }> {
  let pair: Pair | null = null;
  const fleet = await startFleet({
    env: { DURABILITY: durability },
    settings: { people: true },
    redisArgs: AT_ONCE,
    onRedis: async (primary) => (pair = await replicated(primary)),
  });
  let { primary, replication, replica } = mustHave<Pair>(pair ?? undefined);
  const servers = [replica];

  const threads = 8;
  const workload = await startWorkload(fleet, { threads, writers: 1 });
  // Without messages that are not the model's the checker of the control finds no less.
  const talks = durability === "replica" ? await startTalks(fleet, { threads: TALKS }) : null;
  /** Until a message was said and acknowledged that the replica does not have; with DURABILITY=replica there is none. */
  async function untilReplicaLacks(): Promise<void> {
    const before = workload.acknowledged;
    await pause(500);
    if (durability === "replica") return;
    // Of more than one for each thread, one was begun after the other was acknowledged.
    await until("more messages are acknowledged", () => workload.acknowledged > before + threads);
  }
  async function untilTalked(): Promise<void> {
    const before = talks?.acknowledged ?? 0;
    if (talks)
      await until("operators and visitors are acknowledged", () => talks.acknowledged > before + TALKS);
  }
  for (let round = 0; round < FAILOVERS; round++) {
    const before = workload.acknowledged;
    await until("messages are acknowledged", () => workload.acknowledged >= before + threads);
    await untilTalked();
    await replication.bring({ hangs: true });
    await untilReplicaLacks();
    await primary.kill9();
    await replication.close();
    await command(replica, "REPLICAOF", "NO", "ONE");
    fleet.network.lead(replica.port);
    fleet.network.cut();
    ({ primary, replication, replica } = await replicated(replica));
    servers.push(replica);
  }
  await pause(1_000);
  await untilTalked();
  await Promise.all([workload.stop(), talks?.stop()]);
  const faults = [...(await workload.faults()), ...((await talks?.faults()) ?? [])];
  await replication.close();
  await fleet.close();
  await Promise.all(servers.map((server) => server.stop()));
  return { faults, acknowledged: workload.acknowledged, talked: talks?.acknowledged ?? 0 };
}

interface Pair {
  primary: RedisServer;
  /** Between the two. */
  replication: TcpProxy;
  replica: RedisServer;
}

/** Resolves when the replica has everything that the primary has. */
async function replicated(primary: RedisServer): Promise<Pair> {
  const replication = await startTcpProxy(primary.port);
  const args = [...AT_ONCE, "--replicaof", "127.0.0.1", String(replication.port)];
  const replica = await startRedis({ args });
  while (!(await command(primary, "INFO", "replication")).includes("state=online")) await pause(20);
  return { primary, replication, replica };
}

async function command(server: RedisServer, ...args: string[]): Promise<string> {
  const client = redisClient(server.url);
  await client.connect();
  try {
    return await client.sendCommand<string>(args);
  } finally {
    client.destroy();
  }
}

test.concurrent("with DURABILITY=replica nothing acknowledged is lost", { timeout: 600_000 }, async () => {
  const { faults, acknowledged, talked } = await failOver("replica");
  expect(faults).toEqual([]);
  expect(acknowledged).toBeGreaterThan(0);
  expect(talked).toBeGreaterThan(TALKS);
  if (isFull) console.log(`${FAILOVERS} failovers, ${acknowledged} messages acknowledged, none lost`);
});

test.concurrent(
  "a control: with DURABILITY=local the checker finds what is lost",
  { timeout: 600_000 },
  async () => {
    const { faults } = await failOver("local");
    expect(faults).toContainEqual(expect.stringMatching(/^lost: /));
  },
);
