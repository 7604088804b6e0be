import { askAllAtOnce } from "../rig/all-at-once.ts";
import { orSayWhyNot } from "../rig/cannot-measure.ts";
import { LOAD_CORE, pin } from "../rig/cores.ts";
import { listenerFor } from "../rig/listener.ts";
import { load, pause } from "../rig/load.ts";
import type { Measured } from "../rig/load.ts";
import { checkMachine } from "../rig/machine.ts";
import { startModel } from "../rig/model.ts";
import { readOptions, wrongUse } from "../rig/options.ts";
import { conditions, writeMeasured } from "../rig/readme.ts";
import { markdownOf, tell } from "../rig/section.ts";
import { memoryMbOf } from "../rig/usage.ts";
import { enter, inTurns } from "./field.ts";
import { BURST, SLOW, SPACED } from "./outcome.ts";
import type { Cell } from "./outcome.ts";
import { peers } from "./peers.ts";
import { sectionOf } from "./section-of.ts";
import { modelAlone, startPeer, startService } from "./subject.ts";
import type { Subject } from "./subject.ts";

/**
 * `npm run bench:peers`: the same job on alternatives to the service, all of them up at once, taking turns under the load.
 * `-- by-hand mastra` starts only those; `-- --write` puts the results into README.md, and writes its plot.
 */
const REPEATS = Number(process.env["BENCH_REPEATS"] ?? 3);
const SLOW_REPEATS = Math.min(2, REPEATS);
/** Warm-up of each before the first cell: code that is new to the engine costs several times as much. */
const WARM_MS = Number(process.env["BENCH_WARM_MS"] ?? 12_000);
const WINDOW_MS = 3_000;
const CHUNKS = 20;

function asked({ users, everyMs }: Cell, windowMs = WINDOW_MS): (subject: Subject) => Promise<Measured> {
  const replyMs = everyMs * CHUNKS;
  return async (subject) => {
    await model.pace({ everyMs });
    // The slowest take some seconds for a reply; a window must not begin during all users' first one.
    const warmMs = 800 + 4 * replyMs;
    return load(subject.asking(), { users, watched: subject.pids(), spreadMs: replyMs, warmMs, windowMs });
  };
}

const HELP = `npm run bench:peers -- [peer ...] [--write] [--listener=uws|node]

Without a name, all of them: ${[...new Set(peers.map(({ folder }) => folder))].join(", ")}
--write puts what was measured into bench/README.md, and its plot beside it.
`;

/** The peers to run, and the listener; throws CannotMeasure. */
async function commandLine() {
  const options = readOptions(process.argv.slice(2));
  for (const name of options.names) {
    if (!peers.some(({ folder }) => folder === name))
      throw wrongUse(`Cannot ask ${name}: no peer has this name`);
  }
  for (const { option } of options.given) {
    if (!["help", "write", "listener"].includes(option)) throw wrongUse(`Cannot take --${option}`);
  }
  if (options.help) {
    process.stdout.write(HELP);
    process.exit();
  }
  checkMachine();
  return { ...options, listener: await listenerFor(options) };
}

const { names: wanted, write: isWritten, listener } = await orSayWhyNot(commandLine);
pin(process.pid, LOAD_CORE);
const model = await startModel();
const itself = await enter("the model itself", () => Promise.resolve(modelAlone(model)));
const service = await enter("**this service**", () => startService(model.baseUrl, listener));
const field = [service];
for (const peer of peers) {
  if (wanted.length > 0 && !wanted.includes(peer.folder)) continue;
  field.push(await enter(peer.name, () => startPeer(peer, model.baseUrl)));
}
const everybody = [itself, ...field];
const memoryNow = () => new Map(field.map((one) => [one, memoryMbOf(one.subject?.pids() ?? [])]));

try {
  await pause(2_000);
  const idleMb = memoryNow();
  tell("warming up");
  await inTurns(field, 1, asked(BURST, WARM_MS));
  tell(BURST.name);
  const burst = await inTurns(everybody, REPEATS, asked(BURST));
  tell(SPACED.name);
  const spaced = await inTurns(everybody, REPEATS, asked(SPACED));
  tell(SLOW.name);
  const slow = await inTurns(everybody, SLOW_REPEATS, async (subject) => {
    await model.pace({ everyMs: SLOW.everyMs });
    return askAllAtOnce(subject.asking(), SLOW.users, subject.pids());
  });
  const measured = markdownOf(
    sectionOf({ itself, service, field, burst, spaced, slow, idleMb, afterMb: memoryNow() }),
  );
  process.stdout.write(`${conditions()}\n${measured}`);
  if (isWritten) writeMeasured("peers", measured);
} finally {
  for (const { subject } of field) await subject?.stop();
  model.stop();
}
// A peer that never listened still keeps this process waiting.
process.exit();
