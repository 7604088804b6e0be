// For src/stores/engines/redis/, src/threads/
import { afterAll, describe, expect, test } from "vitest";
import { startClusterFleet } from "./cluster-fleet.ts";
import type { ClusterFleet, Durability } from "./cluster-fleet.ts";
import { clusterNemeses, undoAll } from "./cluster-nemeses.ts";
import type { ClusterNemesisName } from "./cluster-nemeses.ts";
import { playRound } from "./cluster-round.ts";
import type { Round, RoundOptions } from "./cluster-round.ts";
import { isFull, lengthOf } from "../lengths.ts";
import { roundTable } from "./round-table.ts";
import { killVictims } from "../victims/victims.ts";

/**
 * P1, P4, P5, P6, P24, P26, P31: many clients write through three instances on a replicated cluster, and one nemesis
 * after the other is done to one shard after the other. FAULTS_MINUTES of it with each durability.
 */
const MINUTES = lengthOf("FAULTS_MINUTES", { short: 0, full: 10 });
const DURABILITIES = (process.env["FAULTS_DURABILITY"] ?? "replica,local").split(",") as Durability[];
const NAMES = Object.keys(clusterNemeses) as ClusterNemesisName[];
const PICKED = NAMES.filter((name) => new RegExp(process.env["FAULTS_NEMESIS"] ?? "").test(name));
const THREADS = 18;
const FEW_THREADS = 9;
const REST_MS = 1_500;

afterAll(() => killVictims());

/** What losing a message brings with it, for those who have read it. */
const LOSSES = /^(lost|rewritten): /;

function faultsOf({ nemesis, faults }: Round, durability: Durability): string[] {
  const mayLose = durability === "local" && clusterNemeses[nemesis].mayLose;
  return faults.filter((fault) => !(mayLose && LOSSES.test(fault)));
}

/** Into `rounds`, so that what was played is told whatever comes in between. */
async function playAll(fleet: ClusterFleet, rounds: Round[]): Promise<void> {
  const endsAt = performance.now() + MINUTES * 60_000;
  for (let shard = 0; performance.now() < endsAt; shard++) {
    for (const nemesis of PICKED) {
      if (performance.now() > endsAt) break;
      const options = { nemesis, shard: shard % 3, threads: THREADS, restMs: REST_MS, random: Math.random };
      const round = await played(fleet, options);
      if (!round) continue;
      rounds.push(round);
      console.log(`\n${new Date().toISOString()} ${told(round)}`);
      expect.soft(faultsOf(round, fleet.durability), nemesis).toEqual([]);
      for (const line of surprisesOf(fleet, round)) console.log(line);
    }
  }
}

/** null: the nemesis could not be carried out, as where a busy cluster elects somebody in the midst of it. */
async function played(fleet: ClusterFleet, options: RoundOptions): Promise<Round | null> {
  try {
    return await playRound(fleet, options);
  } catch (error) {
    console.log(`\n${options.nemesis}: given up: ${String(error)}`);
    await undoAll(fleet);
    return null;
  }
}

/** Errors in the logs of the instances that no outage explains, or one of another shard. */
function surprisesOf({ victims }: ClusterFleet, { hitThreads }: Round): string[] {
  const lines = victims.flatMap(({ log }) => log.splice(0));
  return lines
    .filter((line) => {
      const uid = /"uid":"([^"]+)"/.exec(line)?.[1];
      const isExplained = line.includes("StoreUnavailable") && (uid === undefined || hitThreads.has(uid));
      return /"level":[56]0/.test(line) && !isExplained;
    })
    .map((line) => line.slice(0, 1_000));
}

function told({ nemesis, faults, hit, others, awayMs, servedAfterMs, stoodStillMs }: Round): string {
  const figures = { hit, others, awayMs, servedAfterMs, stoodStillMs };
  const rounded = JSON.stringify(figures, (_, value: unknown) =>
    typeof value === "number" ? Math.round(value) : value,
  );
  return `${nemesis}: ${faults.length} faults ${faults.slice(0, 5).join("; ")} ${rounded}`;
}

/** What was there after its round is there at the end: later nemeses took nothing of it. */
async function lostLater(rounds: readonly Round[]): Promise<string[]> {
  const later: string[] = [];
  for (const { workload, faults } of rounds) {
    const before = new Set(faults);
    later.push(...(await workload.faults()).filter((fault) => !before.has(fault)));
  }
  return later;
}

describe.runIf(MINUTES > 0)(
  "under the nemeses of a cluster nothing is doubled or made up, and nothing lost",
  () => {
    test.each(DURABILITIES)(
      "DURABILITY=%s, but for what that may lose",
      { timeout: 7_200_000 },
      async (durability) => {
        const fleet = await startClusterFleet(durability, { elects: true });
        const rounds: Round[] = [];
        try {
          await playAll(fleet, rounds);
        } finally {
          console.log(`DURABILITY=${durability}, ${MINUTES} minutes\n${roundTable(rounds)}`);
        }
        expect.soft(await lostLater(rounds)).toEqual([]);
        for (const name of PICKED) expect(rounds.map(({ nemesis }) => nemesis)).toContain(name);
        await fleet.close();
      },
    );
  },
);

test.runIf(!isFull)(
  "a control: with DURABILITY=local the checker finds what a failover lost, of the shard that was hit alone",
  { timeout: 600_000 },
  async () => {
    const fleet = await startClusterFleet("local", { elects: false });
    const { faults, hitThreads } = await playRound(fleet, {
      nemesis: "primary lost behind a lag, replica promoted by TAKEOVER",
      shard: 0,
      threads: FEW_THREADS,
      restMs: 300,
      random: Math.random,
    });
    // "lost: THREAD WRITER COUNT"
    const losers = faults.filter((fault) => fault.startsWith("lost: ")).map((fault) => fault.split(" ")[1]);
    expect(losers).not.toEqual([]);
    expect(losers.filter((threadId = "") => !hitThreads.has(threadId))).toEqual([]);
    await fleet.close();
  },
);
