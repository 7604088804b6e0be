import { askAllAtOnce } from "../rig/all-at-once.ts";
import { LOAD_CORE, pin } from "../rig/cores.ts";
import { load, pause } from "../rig/load.ts";
import type { Measured } from "../rig/load.ts";
import { startModel } from "../rig/model.ts";
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
 * `npm run bench:peers`: the same job on what somebody would run instead, all of them up at once, taking turns under the
 * load. `-- by-hand mastra` starts only those; `-- --write` puts what was measured into README.md, and its
 * plot beside it.
 */
const REPEATS = Number(process.env["BENCH_REPEATS"] ?? 3);
const SLOW_REPEATS = Math.min(2, REPEATS);
/** For each before the first cell: new code costs several times as much. */
const WARM_MS = Number(process.env["BENCH_WARM_MS"] ?? 12_000);
const WINDOW_MS = 3_000;
const CHUNKS = 20;

function asked({ users, everyMs }: Cell, windowMs = WINDOW_MS): (subject: Subject) => Promise<Measured> {
  const replyMs = everyMs * CHUNKS;
  return async (subject) => {
    await model.pace({ everyMs });
    // The slowest take some seconds for a reply; a window must not begin in the middle of everybody's first.
    const warmMs = 800 + 4 * replyMs;
    return load(subject.asking(), { users, watched: subject.pids(), spreadMs: replyMs, warmMs, windowMs });
  };
}

const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith("--"));

pin(process.pid, LOAD_CORE);
const model = await startModel();
const itself = await enter("the model itself", () => Promise.resolve(modelAlone(model)));
const service = await enter("**this service**", () => startService(model.baseUrl));
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
  if (args.includes("--write")) writeMeasured("peers", measured);
} finally {
  for (const { subject } of field) await subject?.stop();
  model.stop();
}
// Who never said that it listens is still waited for.
process.exit();
