import { askServerApi, askWidgetApi, makeVisitors } from "./rig/askings.ts";
import { LOAD_CORE, pin } from "./rig/cores.ts";
import type { Asking, Measured } from "./rig/load.ts";
import { load } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import type { BenchModel } from "./rig/model.ts";
import { median, quantile, shown, withSpread } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import type { Section } from "./rig/section.ts";
import { startStack } from "./rig/stack.ts";
import type { Stack } from "./rig/stack.ts";

/**
 * What does encryption of contents at rest cost a message? The service with CONTENT_KEYS and the one without take turns under
 * the same load, each as often the first; the result is their ratio within one run. A visitor who goes on already has a key, and
 * a thread of up to ten messages; a new visitor sends one message, for which a key is created.
 */
const { listener = "uws" } = readOptions(process.argv.slice(2));
const REPEATS = Number(process.env["BENCH_REPEATS"] ?? 6);
const USERS = 64;
const WARM_MS = 300;
const WINDOW_MS = Number(process.env["BENCH_WINDOW_MS"] ?? 1_500);
const MESSAGES_EACH = 150;
/** More visitors than can send a message within the time: a visitor who has sent one is not new. */
const NEW_EACH = Math.ceil((WARM_MS + WINDOW_MS) / 15);
const STORES = ["redis", "embedded"] as const;
const VISITORS = ["who go on", "all new"] as const;

interface Pair {
  plain: Measured;
  encrypted: Measured;
}

interface Result {
  store: (typeof STORES)[number];
  visitors: (typeof VISITORS)[number];
  pairs: Pair[];
}

async function ask({ port, pids }: Stack, who: Result["visitors"]): Promise<Measured> {
  const asking = await (who === "all new" ? newVisitors(port) : goingOn(port));
  return load(asking, { users: USERS, watched: pids, spreadMs: 0, warmMs: WARM_MS, windowMs: WINDOW_MS });
}

const goingOn = async (port: number) => askWidgetApi(port, await makeVisitors(port, USERS, MESSAGES_EACH));

async function newVisitors(port: number): Promise<Asking> {
  const visitors = await makeVisitors(port, USERS * NEW_EACH, 1);
  const asking = askWidgetApi(port, visitors);
  return {
    ...asking,
    request(user, nth, text) {
      if (nth >= NEW_EACH) throw new Error("Cannot go on: all visitors have spoken");
      return asking.request(user * NEW_EACH + nth, 0, text);
    },
  };
}

async function warmUp({ port }: Stack): Promise<void> {
  await load(askServerApi(port), { users: USERS, warmMs: 0, windowMs: 5_000, spreadMs: 0, watched: [] });
}

async function measure(store: Result["store"], model: BenchModel): Promise<Result[]> {
  tell(store);
  const options = { listener, store, modelUrl: model.baseUrl };
  const plain = await startStack("service", options);
  const settings = { CONTENT_KEYS: `bench:${Buffer.alloc(32, 1).toString("base64")}` };
  const encrypted = await startStack("service", { ...options, settings });
  try {
    await model.pace({ everyMs: 0 });
    for (const stack of [plain, encrypted]) await warmUp(stack);
    const results = VISITORS.map((visitors): Result => ({ store, visitors, pairs: [] }));
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const { visitors, pairs } of results) {
        pairs.push(await inTurn({ plain, encrypted }, visitors, repeat % 2 === 0));
      }
    }
    return results;
  } finally {
    await plain.stop();
    await encrypted.stop();
  }
}

async function inTurn(
  { plain, encrypted }: { plain: Stack; encrypted: Stack },
  who: Result["visitors"],
  isPlainFirst: boolean,
): Promise<Pair> {
  if (isPlainFirst) return { plain: await ask(plain, who), encrypted: await ask(encrypted, who) };
  return { encrypted: await ask(encrypted, who), plain: await ask(plain, who) };
}

const ratioOf = ({ plain, encrypted }: Pair) => encrypted.cpuMs / plain.cpuMs;
const first = (measured: Measured) => quantile(measured.firstMs, 0.5);

function sectionOf(results: Result[]): Section {
  return {
    title: "Encryption of contents at rest",
    tables: [
      {
        caption: `CPU is that of the whole stack for one message (${USERS} visitors at a time, replies of 20 pieces in one write). Medians of ${REPEATS} interleaved repeats, in brackets the lowest and highest.`,
        head: [
          "store",
          "visitors",
          "CPU ms without",
          "CPU ms with",
          "with / without",
          "first line ms without",
          "with",
        ],
        rows: results.map(({ store, visitors, pairs }) => [
          store,
          visitors,
          shown(median(pairs.map(({ plain }) => plain.cpuMs))),
          shown(median(pairs.map(({ encrypted }) => encrypted.cpuMs))),
          withSpread(pairs.map(ratioOf)),
          shown(median(pairs.map(({ plain }) => first(plain)))),
          shown(median(pairs.map(({ encrypted }) => first(encrypted)))),
        ]),
      },
    ],
    targets: results.map(({ store, visitors, pairs }) => ({
      says: `a message costs at most 1.05 of what it does without (${store}, visitors ${visitors})`,
      measured: withSpread(pairs.map(ratioOf)),
      met: median(pairs.map(ratioOf)) <= 1.05,
    })),
  };
}

pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  const results: Result[] = [];
  for (const store of STORES) results.push(...(await measure(store, model)));
  print(sectionOf(results));
} finally {
  model.stop();
}
