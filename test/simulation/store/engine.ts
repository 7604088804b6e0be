import { slotOf } from "../../../src/stores/engine.ts";
import type { Answers, Applied, Engine, How, Read, Step } from "../../../src/stores/engine.ts";
import { partsOfKey } from "../../../src/stores/tables.ts";
import type { Process } from "../instance/process.ts";
import type { World } from "../world.ts";
import type { Call } from "./calls.ts";
import { couldComeIn, effectOf } from "./effects.ts";
import type { Asked } from "./effects.ts";
import type { StoreNode, Where } from "./node.ts";
import type { WatchLoads } from "./open.ts";

/** What a process asks of a node. */
interface Order {
  run: (data: Engine) => Promise<unknown>;
  done: (result: never, where: Where) => void;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

interface Batch {
  node: StoreNode;
  action: string;
  isWrite: boolean;
  isDurable: boolean;
  orders: Order[];
}

/** The engine of one process: the node of a slot keeps what is in it. Tells the checker what each step did. */
export function createEngine(
  { cluster, messages, judge }: World,
  process: Process,
  { call, asked, watchLoad }: { call: Call; asked: Asked; watchLoad: WatchLoads },
): Engine {
  const batches = new Map<string, Batch>();
  /** The servers' time less this process's monotonic clock; null: not read yet. */
  let aheadMs: number | null = null;

  /** What goes to a node in one tick goes at once, as on one connection: a search asks it for each of its buckets. */
  function order<Result>(
    slot: string,
    { name: action = "call", durable: isDurable = true, isWrite }: How & { isWrite: boolean },
    { run, done }: { run: (data: Engine) => Promise<Result>; done: (result: Result, where: Where) => void },
  ): Promise<Result> {
    const node = cluster.ofSlot(slot);
    const to = `${node.name} ${isWrite} ${isDurable}`;
    const batch = batches.get(to) ?? { node, action, isWrite, isDurable, orders: [] };
    if (batch.orders.length === 0) {
      batches.set(to, batch);
      queueMicrotask(() => {
        batches.delete(to);
        void send(batch);
      });
    }
    return new Promise<Result>(
      (resolve, reject) =>
        void batch.orders.push({ run, done, resolve: resolve as Order["resolve"], reject }),
    );
  }

  async function send({ node, orders, ...how }: Batch): Promise<void> {
    try {
      const results = await call<unknown[]>(node, {
        ...how,
        step: (data) => Promise.all(orders.map(({ run }) => run(data))),
        done: (found, where) => orders.forEach(({ done }, nth) => done(found[nth] as never, where)),
      });
      for (const [nth, { resolve }] of orders.entries()) resolve(results[nth]);
    } catch (error) {
      for (const { reject } of orders) reject(error);
    }
  }

  function read(reads: readonly Read[], how: How = {}): Promise<readonly unknown[]> {
    const key = reads[0]?.key ?? "";
    const done = how.name === "load" ? watchLoad(partsOfKey(key)?.id ?? "") : () => {};
    return order(slotOf(key), { ...how, isWrite: false }, { run: (data) => data.read(reads), done });
  }

  async function apply(step: Step, { durable = true }: How = {}): Promise<Applied<readonly Read[]>> {
    const how = { name: step.name ?? "apply", durable, isWrite: true };
    const { applied } = await order(step.slot, how, {
      run: async (data) => ({ hadToken: await couldComeIn(data, step), applied: await data.apply(step) }),
      done({ applied: { type }, hadToken }, where) {
        const effect = type === "failed" ? null : effectOf(step, asked, { by: process.id, hadToken });
        if (effect) judge({ ...effect, where });
      },
    });
    return applied as Applied<readonly Read[]>;
  }

  async function one<const R extends Read>(read: R): Promise<Answers<readonly [R]>[0]> {
    const [answer] = await engine.read([read]);
    return answer;
  }

  const engine: Engine = {
    kind: "redis",
    read: read as Engine["read"],
    apply: apply as Engine["apply"],

    async *hashPages(key) {
      yield await one({ read: "hash", key });
    },
    async *memberPages(key) {
      yield await one({ read: "range", key });
    },
    keys() {
      throw new Error("Cannot walk over all keys: no instance does");
    },

    timeMs: () => (aheadMs === null ? null : Math.floor(process.clock.elapsed() + aheadMs)),
    async readTime() {
      const how = { name: "read the time", durable: false, isWrite: false };
      const nowMs = await order("g", how, { run: async (data) => data.timeMs() ?? 0, done() {} });
      aheadMs = nowMs - process.clock.elapsed();
    },

    tell: (name, text) => messages.post(process, name, text),
    listen: async (name, listener) => messages.listen(process, name, listener),
    onReconnect: (callback) => cluster.onReconnect(() => process.deliver(callback)),
    health: async () => ({ reachable: true, warnings: [] }),
    close: async () => {},
  };
  return engine;
}
