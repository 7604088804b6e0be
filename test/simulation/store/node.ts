import type { Engine, Step } from "../../../src/stores/engine.ts";
import { createMemoryEngine } from "../../stores/engine/memory-engine.ts";
import type { VirtualTime } from "../virtual-time.ts";
import { createReplica } from "./replica.ts";

/**
 * One primary of the simulated cluster and its replica, which confirms each write a little later. In a failover the
 * replica takes the primary's place, and what it had not confirmed is gone.
 *
 * For a while some processes may go on with the old primary (`stragglers`): what they write there is gone in the end.
 * Or they read from a replica that stands still.
 */
export interface StoreNode {
  readonly name: string;
  /** Requests that arrive while it is down are lost. */
  isDown: boolean;
  /** Writes so far that are in force. */
  readonly writes: number;
  serve<Result>(request: NodeRequest<Result>): void;
  /** The link to the replica hangs, or goes on. */
  setLink(isUp: boolean): void;
  /** The replica takes over. `stragglers` go on with the old primary until `endStraggling`. */
  failOver(stragglers: ReadonlySet<string>): Promise<void>;
  endStraggling(): void;
  /** These processes read what the replica had at this moment, until `endStale`. */
  readStale(readers: ReadonlySet<string>): Promise<void>;
  endStale(): void;
  /** Has this process, since then, seen something else than the primary's present data? */
  wasAstray(processId: string, sinceMs: number): boolean;
}

export interface NodeRequest<Result> {
  /** The process that asks. */
  from: string;
  isWrite: boolean;
  /** Its answer waits for what the durability asks. */
  isDurable: boolean;
  /** One atomic step. */
  step: (data: Engine) => Promise<Result>;
  /** The step was done, on the primary or where stragglers are. */
  done: (result: Result, where: Where) => void;
  /** The answer may leave: the change is as durable as it must be. */
  answer: (result: Result) => void;
}

export interface Where {
  node: StoreNode;
  /** How many writes the node has seen with this one; null: among stragglers. */
  position: number | null;
  /** The write was answered, or will be without further ado: whoever asked may rely on it. */
  isAcknowledged: () => boolean;
}

interface Write {
  atMs: number;
  step: (data: Engine) => Promise<unknown>;
  isAcknowledged: boolean;
}

interface NodeData {
  engine: Engine;
  /** The server's own clock, at this step. */
  clock: { nowMs: number };
}

export interface NodeOptions {
  name: string;
  time: VirtualTime;
  durability: "local" | "replica";
  /** What is there from the beginning. */
  initial: Step["writes"];
  /** The server's own clock. */
  now: () => number;
  /** How far the replica is behind, in ms. */
  lagMs: () => number;
  /** The writes after the first `kept` ones are gone. */
  onCut: (node: StoreNode, kept: number) => void;
  /** What stragglers wrote is gone. */
  onStragglersBack: (node: StoreNode) => void;
}

export function createNode(options: NodeOptions): StoreNode {
  const { name, time, durability, initial, now, lagMs, onCut, onStragglersBack } = options;
  let data = dataOf(initial);
  let writes: Write[] = [];
  let replica = createReplica(time, lagMs);
  let astray: { data: NodeData; who: ReadonlySet<string> } | null = null;
  let stale: { data: NodeData; who: ReadonlySet<string> } | null = null;
  const wentAstray: { who: ReadonlySet<string>; endedAtMs: number }[] = [];

  const node: StoreNode = {
    name,
    isDown: false,

    get writes() {
      return writes.length;
    },

    serve(request) {
      const { from, isWrite } = request;
      if (astray?.who.has(from)) void serveAstray(request, astray.data);
      else if (node.isDown) return;
      else if (!isWrite && stale?.who.has(from)) void serveStale(request, stale.data);
      else void serveHere(request);
    },

    setLink: (isUp) => replica.setLink(isUp),

    async failOver(stragglers) {
      node.endStraggling();
      const kept = replica.confirmed;
      // Nothing that the old primary still sends is confirmed by anybody.
      replica.setLink(false);
      if (stragglers.size > 0) astray = { data, who: stragglers };
      data = await replayed(writes.slice(0, kept));
      writes = writes.slice(0, kept);
      replica = createReplica(time, lagMs, kept);
      onCut(node, kept);
    },

    endStraggling() {
      if (!astray) return;
      wentAstray.push({ who: astray.who, endedAtMs: time.nowMs });
      astray = null;
      onStragglersBack(node);
    },

    async readStale(who) {
      node.endStale();
      stale = { who, data: await replayed(writes.slice(0, replica.confirmed)) };
    },

    endStale() {
      if (stale) wentAstray.push({ who: stale.who, endedAtMs: time.nowMs });
      stale = null;
    },

    wasAstray: (processId, sinceMs) =>
      Boolean(astray?.who.has(processId)) ||
      Boolean(stale?.who.has(processId)) ||
      wentAstray.some(({ who, endedAtMs }) => endedAtMs >= sinceMs && who.has(processId)),
  };

  async function serveHere<Result>(request: NodeRequest<Result>): Promise<void> {
    const { isWrite, isDurable, step, done, answer } = request;
    const write: Write = { atMs: now(), step, isAcknowledged: durability === "local" };
    data.clock.nowMs = write.atMs;
    if (isWrite) {
      writes.push(write);
      replica.wrote(writes.length);
    }
    const position = writes.length;
    const result = await step(data.engine);
    done(result, { node, position, isAcknowledged: () => write.isAcknowledged });
    if (durability === "local" || !isDurable) answer(result);
    if (durability === "local") return;
    replica.whenConfirmed(position, () => {
      write.isAcknowledged = true;
      if (isDurable) answer(result);
    });
  }

  /** Nothing confirms what is written here. */
  async function serveAstray<Result>(request: NodeRequest<Result>, there: NodeData): Promise<void> {
    const { isDurable, step, done, answer } = request;
    const isAcknowledged = durability === "local";
    there.clock.nowMs = now();
    const result = await step(there.engine);
    done(result, { node, position: null, isAcknowledged: () => isAcknowledged });
    // Whoever waits for a replica waits for ever, also with what it only read.
    if (isAcknowledged || !isDurable) answer(result);
  }

  async function serveStale<Result>(
    { step, done, answer }: NodeRequest<Result>,
    there: NodeData,
  ): Promise<void> {
    there.clock.nowMs = now();
    const result = await step(there.engine);
    done(result, { node, position: null, isAcknowledged: () => true });
    answer(result);
  }

  async function replayed(kept: readonly Write[]): Promise<NodeData> {
    const replay = dataOf(initial);
    for (const { atMs, step } of kept) {
      replay.clock.nowMs = atMs;
      await step(replay.engine);
    }
    return replay;
  }

  return node;
}

function dataOf(initial: Step["writes"]): NodeData {
  const clock = { nowMs: 0 };
  const engine = createMemoryEngine({ now: () => clock.nowMs, elapsed: () => clock.nowMs });
  void engine.apply({ slot: "", checks: [], writes: initial });
  return { engine, clock };
}
