import { resolve } from "node:path";
import { CannotMeasure } from "./rig/cannot-measure.ts";
import { askServerApi, askWidgetApi, makeVisitors } from "./rig/askings.ts";
import { LOAD_CORE, pin } from "./rig/cores.ts";
import { load } from "./rig/load.ts";
import type { Measured } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import type { BenchModel } from "./rig/model.ts";
import { median, medianWithin, quantile, shown, withMedianRange } from "./rig/numbers.ts";
import { readOptions, wrongUse } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import type { Section, Target } from "./rig/section.ts";
import { startStack } from "./rig/stack.ts";
import type { Stack, StackKind } from "./rig/stack.ts";
import { warmUp } from "./rig/warm-up.ts";

/**
 * Does a message cost more here than in another version, or with another setting? `--checkout=FOLDER` is the other version,
 * built (`npm ci && npm run build` in it), `--set=NAME=VALUE` a setting of only the other one. Both are up, on one core, and
 * take turns under the same load, each as often the first; the result is their ratio within one run. With `--most=1.03` it ends
 * with exit code 1 where a message takes more than 1.03 times the CPU of the other one's, and that is no chance.
 */
const {
  listener = "uws",
  stores,
  checkout,
  set: settings,
  cell: wanted,
  repeats: REPEATS = 20,
  most: MOST,
} = readOptions(process.argv.slice(2));
const STORES = stores.length > 0 ? stores : (["redis", "embedded"] as const);
const CHUNKS = 20;
/** Short, and often: what else a machine does changes within seconds, and two that follow one another see the same of it. */
const WINDOW_MS = 1_000;

interface Cell {
  api: "widget" | "server";
  users: number;
  /** Between two chunks of the model; 0: all 20 in one write. */
  everyMs: number;
}

const CELLS: Cell[] = [
  { api: "widget", users: 64, everyMs: 0 },
  { api: "server", users: 64, everyMs: 0 },
  { api: "widget", users: 256, everyMs: 20 },
];

interface Pair {
  ours: Measured;
  other: Measured;
}

interface Result {
  store: StackKind["store"];
  cell: Cell;
  pairs: Pair[];
}

async function ask({ port, pids }: Stack, cell: Cell): Promise<Measured> {
  const { api, users, everyMs } = cell;
  const replyMs = everyMs * CHUNKS;
  const plan = {
    users,
    watched: pids,
    spreadMs: replyMs,
    warmMs: Math.max(300, replyMs * 1.5),
    windowMs: Math.max(WINDOW_MS, replyMs * 3),
  };
  if (api === "server") return load(askServerApi(port), plan);
  // More than a visitor can send in one measurement.
  const messagesEach = everyMs > 0 ? 20 : Math.ceil(8_000 / users);
  return load(askWidgetApi(port, await makeVisitors(port, users, messagesEach)), plan);
}

async function measure(kind: StackKind, model: BenchModel): Promise<Result[]> {
  const cells = cellsOn(kind.store);
  if (cells.length === 0) return [];
  const common = { ...kind, modelUrl: model.baseUrl };
  const folder = checkout === undefined ? {} : { checkout: resolve(checkout) };
  const ours = await startStack("service", common);
  const other = await startStack("service", { ...common, ...folder, settings: Object.fromEntries(settings) });
  try {
    tell(`warming up: ${kind.store}`);
    await model.pace({ everyMs: 0 });
    for (const { port } of [ours, other]) await warmUp(port);
    const results: Result[] = [];
    for (const cell of cells) {
      tell(nameOf(kind.store, cell));
      await model.pace({ everyMs: cell.everyMs });
      const pairs: Pair[] = [];
      for (let repeat = 0; repeat < REPEATS; repeat++) {
        pairs.push(await inTurn({ ours, other }, cell, repeat % 2 === 0));
      }
      results.push({ store: kind.store, cell, pairs });
    }
    return results;
  } finally {
    await ours.stop();
    await other.stop();
  }
}

async function inTurn(
  stacks: { ours: Stack; other: Stack },
  cell: Cell,
  isOursFirst: boolean,
): Promise<Pair> {
  if (isOursFirst) return { ours: await ask(stacks.ours, cell), other: await ask(stacks.other, cell) };
  return { other: await ask(stacks.other, cell), ours: await ask(stacks.ours, cell) };
}

function nameOf(store: string, { api, users, everyMs }: Cell): string {
  return [api, everyMs === 0 ? "burst" : `${everyMs} ms`, `${users} users`, store].join(", ");
}

function cellsOn(store: StackKind["store"]): Cell[] {
  return CELLS.filter((cell) => nameOf(store, cell).includes(wanted ?? ""));
}

const ratioOf = ({ ours, other }: Pair) => other.cpuMs / ours.cpuMs;
const first = (measured: Measured) => quantile(measured.firstMs, 0.5);

function sectionOf(results: Result[], otherName: string): Section {
  return {
    title: `Beside ${otherName}`,
    tables: [
      {
        caption: `Node ${process.versions.node}, listener ${listener}. CPU is that of the whole stack for one message. Medians of ${REPEATS} repeats in turns; in brackets, between what the ratio's median lies in 19 of 20 such measurements.`,
        head: ["cell", "msg/s", "other", "CPU ms", "other", "other's CPU / CPU", "first line ms", "other"],
        rows: results.map(({ store, cell, pairs }) => [
          nameOf(store, cell),
          shown(median(pairs.map(({ ours }) => ours.perSecond))),
          shown(median(pairs.map(({ other }) => other.perSecond))),
          shown(median(pairs.map(({ ours }) => ours.cpuMs))),
          shown(median(pairs.map(({ other }) => other.cpuMs))),
          withMedianRange(pairs.map(ratioOf)),
          shown(median(pairs.map(({ ours }) => first(ours)))),
          shown(median(pairs.map(({ other }) => first(other)))),
        ]),
      },
    ],
    targets: results.flatMap((result) => (MOST === undefined ? [] : [targetOf(result, MOST)])),
  };
}

function targetOf({ store, cell, pairs }: Result, most: number): Target {
  const ratios = pairs.map((pair) => 1 / ratioOf(pair));
  const isDearer = median(ratios) > most;
  // It may be chance: more repeats would tell.
  const isUnsure = isDearer && medianWithin(ratios).low <= 1;
  return {
    says: `at most ${most} times the CPU of the other's message (${nameOf(store, cell)})`,
    measured: withMedianRange(ratios) + (isUnsure ? ", too few repeats to tell" : ""),
    met: isUnsure ? null : !isDearer,
  };
}

if (checkout === undefined && settings.length === 0)
  throw wrongUse("Cannot compare: say with what, by --checkout=FOLDER or --set=NAME=VALUE");
if (STORES.every((store) => cellsOn(store).length === 0)) {
  const names = STORES.flatMap((store) => CELLS.map((cell) => nameOf(store, cell)));
  throw new CannotMeasure(`Cannot measure --cell="${wanted}": the cells are\n${names.join("\n")}`);
}
pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  const results: Result[] = [];
  for (const store of STORES) results.push(...(await measure({ listener, store }, model)));
  const otherName = [checkout ?? [], settings.map((setting) => setting.join("="))].flat().join(", ");
  const section = sectionOf(results, otherName);
  print(section);
  if (section.targets.some(({ met }) => met === false)) process.exitCode = 1;
} finally {
  model.stop();
}
