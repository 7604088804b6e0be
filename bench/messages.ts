import { askModel, askServerApi, askWidgetApi, makeVisitors } from "./rig/askings.ts";
import { CannotMeasure } from "./rig/cannot-measure.ts";
import { LOAD_CORE, pin } from "./rig/cores.ts";
import { load } from "./rig/load.ts";
import type { Asking, Measured } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import type { BenchModel } from "./rig/model.ts";
import { median, quantile, shown, withSpread } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { trafficOf } from "./rig/redis-traffic.ts";
import type { RedisTraffic } from "./rig/redis-traffic.ts";
import { print, tell } from "./rig/section.ts";
import type { Section, Table, Target } from "./rig/section.ts";
import { startStack } from "./rig/stack.ts";
import type { Stack, StackKind } from "./rig/stack.ts";
import { warmUp } from "./rig/warm-up.ts";

/**
 * What does a message cost, compared with the floor? The service and floor.ts take turns under the same load; the result is
 * their ratio within one run. The model alone, called by the same client, shows what the rig adds.
 */
interface Cell extends StackKind {
  api: "widget" | "server";
  users: number;
  /** Between two chunks of the model; 0: all 20 in one write. */
  everyMs: number;
  gzip: boolean;
}

const { listener = "uws", cell: wanted } = readOptions(process.argv.slice(2));

const BASE: Cell = { api: "widget", listener, store: "redis", users: 64, everyMs: 0, gzip: false };

/** Measured in addition, if uWebSockets.js is the listener. */
const ON_NODE_HTTP: Cell[] = [
  { ...BASE, listener: "node" },
  { ...BASE, listener: "node", everyMs: 20 },
  { ...BASE, listener: "node", everyMs: 20, users: 256 },
];

const CELLS: Cell[] = [
  BASE,
  { ...BASE, users: 16 },
  { ...BASE, users: 256 },
  { ...BASE, users: 512 },
  { ...BASE, gzip: true },
  { ...BASE, api: "server" },
  { ...BASE, everyMs: 20 },
  { ...BASE, everyMs: 20, users: 256 },
  { ...BASE, everyMs: 20, users: 512 },
  { ...BASE, store: "embedded" },
  { ...BASE, store: "embedded", everyMs: 20 },
  ...(listener === "node" ? [] : ON_NODE_HTTP),
];

const REPEATS = Number(process.env["BENCH_REPEATS"] ?? 3);
const CHUNKS = 20;

interface Pair {
  service: Measured;
  floor: Measured;
  model: Measured;
}

interface Result {
  cell: Cell;
  pairs: Pair[];
}

/** Redis' work for a message. */
interface RedisShare {
  who: "service" | "floor";
  cpuMs: number;
  inBytes: number;
  outBytes: number;
  commands: number;
}

function nameOf({ listener, store, api, users, everyMs, gzip }: Cell): string {
  const pace = everyMs === 0 ? "burst" : `${everyMs} ms`;
  return [api, pace, `${users} users`, gzip ? "gzip" : "plain", store, listener].join(", ");
}

async function measure(
  cells: Cell[],
  model: BenchModel,
): Promise<{ results: Result[]; shares: RedisShare[] }> {
  const results: Result[] = [];
  const shares: RedisShare[] = [];
  const kinds = new Map(cells.map(({ listener, store }) => [`${listener} ${store}`, { listener, store }]));
  for (const kind of kinds.values()) {
    const options = { ...kind, modelUrl: model.baseUrl };
    const service = await startStack("service", options);
    const floor = await startStack("floor", options);
    try {
      tell(`warming up: ${kind.store}, ${kind.listener}`);
      await model.pace({ everyMs: 0 });
      for (const { port } of [service, floor]) await warmUp(port);
      for (const cell of cells) {
        if (cell.listener !== kind.listener || cell.store !== kind.store) continue;
        tell(nameOf(cell));
        const pairs: Pair[] = [];
        for (let repeat = 0; repeat < REPEATS; repeat++) {
          pairs.push({
            service: await ask(service, cell, model),
            floor: await ask(floor, cell, model),
            model: await askTheModel(cell, model),
          });
        }
        results.push({ cell, pairs });
      }
      if (kind.store !== "redis" || kind.listener !== BASE.listener) continue;
      tell("what a message is to Redis");
      shares.push(await shareOf("service", service, model), await shareOf("floor", floor, model));
    } finally {
      await service.stop();
      await floor.stop();
    }
  }
  return { results, shares };
}

/** Measured with 64 visitors in burst, who have created their threads before. */
async function shareOf(
  who: RedisShare["who"],
  { port, redis }: Stack,
  model: BenchModel,
): Promise<RedisShare> {
  if (!redis) throw new Error("Cannot tell what a message is to Redis: there is none");
  await model.pace({ everyMs: 0 });
  const visitors = await makeVisitors(port, BASE.users, messagesEach(BASE));
  const before = await trafficOf(redis.url);
  const plan = { users: BASE.users, warmMs: 0, windowMs: 3_000, spreadMs: 0, watched: [redis.pid] };
  const { messages, cpuMs } = await load(askWidgetApi(port, visitors), plan);
  const after = await trafficOf(redis.url);
  const each = (pick: (traffic: RedisTraffic) => number) => (pick(after) - pick(before)) / messages;
  return {
    who,
    cpuMs,
    inBytes: each(({ inBytes }) => inBytes),
    outBytes: each(({ outBytes }) => outBytes),
    commands: each(({ commands }) => commands),
  };
}

function planOf({ users, everyMs }: Cell, watched: number[]) {
  const replyMs = everyMs * CHUNKS;
  return {
    users,
    watched,
    spreadMs: replyMs,
    warmMs: Math.max(300, replyMs * 1.5),
    windowMs: Math.max(800, replyMs * 2),
  };
}

async function ask(stack: Stack, cell: Cell, model: BenchModel): Promise<Measured> {
  const { port, pids } = stack;
  const asking =
    cell.api === "server"
      ? askServerApi(port, cell.gzip)
      : askWidgetApi(port, await makeVisitors(port, cell.users, messagesEach(cell)), cell.gzip);
  return loadWith(asking, cell, model, pids);
}

/** More than a visitor can send in one measurement. */
function messagesEach({ users, everyMs }: Cell): number {
  return everyMs > 0 ? 10 : Math.ceil(6_000 / users);
}

function askTheModel(cell: Cell, model: BenchModel): Promise<Measured> {
  return loadWith(askModel(model.port), cell, model, [model.pid]);
}

async function loadWith(asking: Asking, cell: Cell, model: BenchModel, watched: number[]): Promise<Measured> {
  await model.pace({ everyMs: cell.everyMs });
  return load(asking, planOf(cell, watched));
}

const p50 = (measured: Measured) => quantile(measured.firstMs, 0.5);
const p99 = (measured: Measured) => quantile(measured.firstMs, 0.99);

function rowOf({ cell, pairs }: Result): string[] {
  const all = (pick: (pair: Pair) => number) => pairs.map(pick);
  return [
    nameOf(cell),
    shown(median(all(({ service }) => service.perSecond))),
    shown(median(all(({ floor }) => floor.perSecond))),
    withSpread(all(ratioOf)),
    shown(median(all(({ service }) => service.cpuMs))),
    shown(median(all(({ floor }) => floor.cpuMs))),
    withSpread(all(addedCpu)),
    `${shown(median(all(({ service }) => p50(service))))} / ${shown(median(all(({ service }) => p99(service))))}`,
    `${shown(median(all(({ floor }) => p50(floor))))} / ${shown(median(all(({ floor }) => p99(floor))))}`,
    `${shown(median(all(({ model }) => p50(model))))} / ${shown(median(all(({ model }) => p99(model))))}`,
  ];
}

/** Compares CPU, which other programs on the machine affect less than the messages a second of a full core. */
const ratioOf = ({ service, floor }: Pair) => floor.cpuMs / service.cpuMs;
const addedCpu = ({ service, floor }: Pair) => service.cpuMs - floor.cpuMs;
const addedFirst = ({ service, model }: Pair) => p50(service) - p50(model);

function rowOfShare({ who, cpuMs, inBytes, outBytes, commands }: RedisShare): string[] {
  return [who, shown(cpuMs), shown(inBytes), shown(outBytes), shown(commands)];
}

function sectionOf({ results, shares }: { results: Result[]; shares: RedisShare[] }): Section {
  const at = (wanted: Partial<Cell>) =>
    results.find(({ cell }) => JSON.stringify(cell) === JSON.stringify({ ...BASE, ...wanted }));
  const burst = at({});
  const spaced = at({ everyMs: 20 });
  const targets = [];
  if (burst) {
    const ratios = burst.pairs.map(ratioOf);
    targets.push({
      says: "at least 0.85 of the floor's messages for the same CPU (64 users, burst)",
      measured: withSpread(ratios),
      met: median(ratios) >= 0.85,
    });
    const added = burst.pairs.map(addedCpu);
    targets.push({
      says: "charts, host and checks add at most 0.08 ms of CPU to a message (64 users, burst)",
      measured: `${withSpread(added)} ms`,
      met: median(added) <= 0.08,
    });
  }
  if (spaced) {
    const added = spaced.pairs.map(addedFirst);
    targets.push({
      says: "the first line comes less than 3 ms after the model's own (p50, 64 users, 20 ms)",
      measured: `${withSpread(added)} ms`,
      met: median(added) < 3,
    });
  }
  return {
    title: "Messages",
    tables: [
      {
        caption: `CPU is that of the whole stack for one message; first line is p50 / p99 from the request on. Medians of ${REPEATS} interleaved repeats, in brackets the lowest and highest.`,
        head: [
          "cell",
          "msg/s",
          "floor msg/s",
          "floor's CPU / CPU",
          "CPU ms",
          "floor CPU ms",
          "added CPU ms",
          "first line ms",
          "floor first line ms",
          "model's own ms",
        ],
        rows: results.map(rowOf),
      },
      ...(shares.length === 0 ? [] : [tableOfShares(shares)]),
    ],
    targets: [...targets, ...shares.slice(0, 1).map(targetOfShare)],
  };
}

function tableOfShares(shares: RedisShare[]): Table {
  return {
    caption:
      "What a message is to Redis (widget, 64 users, burst). Its commands are also those inside of functions.",
    head: ["who", "CPU ms", "bytes to Redis", "bytes from it", "commands"],
    rows: shares.map(rowOfShare),
  };
}

function targetOfShare({ cpuMs }: RedisShare): Target {
  return {
    says: "Redis takes at most 0.05 ms of CPU for a message",
    measured: `${shown(cpuMs)} ms`,
    met: cpuMs <= 0.05,
  };
}

const cells = CELLS.filter((cell) => nameOf(cell).includes(wanted ?? ""));
if (cells.length === 0)
  throw new CannotMeasure(
    `Cannot measure --cell="${wanted}": the cells are\n${CELLS.map(nameOf).join("\n")}`,
  );
pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  print(sectionOf(await measure(cells, model)));
} finally {
  model.stop();
}
