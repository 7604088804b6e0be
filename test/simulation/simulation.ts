import { createHash } from "node:crypto";
import { OPERATORS } from "./channels.ts";
import { createChecker } from "./checker/checker.ts";
import type { Checker, Violation } from "./checker/checker.ts";
import { BOT_THREADS, runBot } from "./clients/bot.ts";
import { createClient } from "./clients/client.ts";
import { createClientNetwork } from "./clients/network.ts";
import type { ClientNetwork } from "./clients/network.ts";
import { runOperator } from "./clients/operator.ts";
import { runKeeper } from "./clients/keeper.ts";
import { ACCOUNTS, runPage } from "./clients/page.ts";
import type { Visitor } from "./clients/page.ts";
import { createFaults } from "./faults.ts";
import type { Happening } from "./happening.ts";
import { createFleet } from "./instance/fleet.ts";
import type { Fleet } from "./instance/fleet.ts";
import type { Instance } from "./instance/instance.ts";
import { createMessages } from "./instance/messages.ts";
import { planOf } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { randomOf } from "./random.ts";
import { seedIds } from "./seeded-ids.ts";
import { createCluster } from "./store/cluster.ts";
import { narrate } from "./narrate.ts";
import { createTrace, traceText } from "./trace.ts";
import { createVirtualTime } from "./virtual-time.ts";
import type { World } from "./world.ts";

/** What came of one seed. */
export interface Outcome {
  seed: number;
  plan: Plan;
  /** null: every invariant held. */
  violation: Violation | null;
  steps: number;
  /** Virtual ms. */
  lastedMs: number;
  /** How often each fault happened. */
  faults: Record<string, number>;
  trace: string[];
  /** Of the whole trace. */
  hash: string;
}

/** After the last fault everything that was acknowledged ends within this time: a queue of runs that each need theirs. */
const REST_MS = 180_000;

/** Runs one seed: the service, its clients and what goes wrong, to the end or to the first invariant that is broken. */
export async function simulate(seed: number, known: readonly string[] = []): Promise<Outcome> {
  const release = seedIds(seed);
  try {
    return await simulateSeeded(seed, known);
  } finally {
    release();
  }
}

async function simulateSeeded(seed: number, known: readonly string[]): Promise<Outcome> {
  const plan = planOf(seed);
  const time = createVirtualTime();
  const trace = createTrace(time);
  const faults: Record<string, number> = {};
  const checker = createChecker(
    {
      time,
      plan,
      trace,
      get cluster() {
        return world.cluster;
      },
    },
    known,
  );

  const shared = {
    plan,
    time,
    trace,
    randomOf: (part: string) => randomOf(seed, part),
    judge(happening: Happening) {
      narrate(trace, happening);
      checker.see(happening);
      nemesis.see(happening);
    },
    count: (fault: string) => void (faults[fault] = (faults[fault] ?? 0) + 1),
    faultsAreOver: () => time.nowMs >= plan.workMs,
  };
  const world: World = { ...shared, cluster: createCluster(shared), messages: createMessages(shared) };

  const fleet = createFleet(world);
  for (const berth of fleet.berths) berth.start();
  const nemesis = createFaults(world, fleet);
  nemesis.start();
  time.after(plan.workMs, nemesis.stop);
  const network = createClientNetwork(world);
  const clients = startClients(world, { fleet, network }, checker);

  const isBroken = () => checker.violation !== null;
  await time.run(plan.workMs, isBroken);
  const isOver = () => clients.left === 0 && checker.isAtRest() && fleet.alive().every(isIdle);
  await time.run(plan.workMs + REST_MS, () => isBroken() || (time.nowMs > plan.workMs && isOver()));
  if (!isBroken()) {
    checker.atRest();
    if (clients.left > 0) checker.report("clients-are-answered", null, `${clients.names().join(", ")} wait`);
    for (const instance of fleet.alive()) {
      if (isIdle(instance)) continue;
      const { process, threads } = instance;
      const text = `${process.id} holds ${threads?.held()} threads, ${threads?.waiting()} streams wait`;
      checker.report("nothing-is-left-in-memory", null, text);
    }
  }
  const lines = traceText(trace.lines, trace);
  network.close();
  return {
    seed,
    plan,
    violation: checker.violation,
    steps: time.steps,
    lastedMs: time.nowMs,
    faults,
    trace: lines,
    hash: createHash("sha256").update(lines.join("\n")).digest("hex"),
  };
}

function isIdle({ threads }: Instance): boolean {
  return threads === null || threads.held() + threads.waiting() === 0;
}

function startClients(
  world: World,
  { fleet, network }: { fleet: Fleet; network: ClientNetwork },
  { epochOf, userOf }: Pick<Checker, "epochOf" | "userOf">,
) {
  const { plan } = world;
  const busy = new Set<string>();
  const visitors: Visitor[] = [];

  function start(name: string, work: (client: ReturnType<typeof createClient>) => Promise<void>): void {
    busy.add(name);
    void work(createClient(name, { world, fleet, network })).then(() => busy.delete(name));
  }

  for (let nth = 0; nth < plan.pages; nth++) {
    const visitor = plan.pagesShareThreads && nth % 2 === 1 ? visitors.at(-1) : undefined;
    const own = visitor ?? { token: null, threads: [] };
    visitors.push(own);
    start(`page${nth + 1}`, (client) => runPage(world, client, own));
  }
  for (let nth = 0; nth < plan.bots; nth++) start(`bot${nth + 1}`, (client) => runBot(world, client));
  const ofVisitors = () => visitors.flatMap(({ threads }) => threads.map((uid) => ({ slug: "shop", uid })));
  const desk = { epochOf, threads: () => [...ofVisitors(), ...(plan.bots > 0 ? BOT_THREADS : [])] };
  for (const { name } of OPERATORS.slice(0, plan.people.operators)) {
    start(`operator ${name}`, (client) => runOperator(world, client, { desk, name }));
  }

  if (plan.deletions.hasKeeper) {
    const kept = { threads: ofVisitors, userOf };
    start("keeper", (client) => runKeeper(world, client, { kept, accounts: ACCOUNTS }));
  }

  return {
    get left() {
      return busy.size;
    },
    names: () => [...busy],
  };
}
