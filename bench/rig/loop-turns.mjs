// Loaded into a measured server, counts the turns of its event loop. Twice a second it writes the time in ms, turns, events
// and CPU ms so far into loop-turns-PID.log in the temporary folder. Needs Node 22.8.
//   BENCH_NODE_ARGS="--import $PWD/bench/rig/loop-turns.mjs" BENCH_SPACED_USERS=64 npm run bench:peers -- by-hand
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";

const file = join(tmpdir(), `loop-turns-${process.pid}.log`);
appendFileSync(file, `${process.argv.slice(1).join(" ")}\n`);
setInterval(() => {
  const { loopCount, events } = performance.nodeTiming.uvMetricsInfo;
  const { user, system } = process.cpuUsage();
  appendFileSync(file, `${[Date.now(), loopCount, events, Math.round((user + system) / 1_000)].join(" ")}\n`);
}, 500).unref();
