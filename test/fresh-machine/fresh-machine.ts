/**
 * `npm run fresh-machine`: what a person meets who has a bare Debian and this checkout, and nothing else. As root, with
 * debootstrap; a few minutes, and three more with --tests. `--debian 12` is for a system whose libraries are too old
 * for the native listener. `--machine FOLDER` keeps the bare Debian for the next time. `--release` tries all that a version must do
 * before it is one (release.ts), with `npm test` `--times 3`.
 */
import { parseArgs } from "node:util";
import { pathOfCommand } from "../support/programs.ts";
import { isDebian, openMachine } from "./machine.ts";
import type { Ran } from "./machine.ts";
import { tryRelease } from "./release.ts";
import { stepsOn, TESTS } from "./steps.ts";
import type { Step } from "./step.ts";

const { values } = parseArgs({
  options: {
    tests: { type: "boolean", default: false },
    debian: { type: "string", default: "13" },
    machine: { type: "string" },
    only: { type: "string" },
    verbose: { type: "boolean", default: false },
    release: { type: "boolean", default: false },
    times: { type: "string", default: "3" },
  },
});

if (process.getuid?.() !== 0 || pathOfCommand("debootstrap") === null) {
  console.error("Cannot make a machine: it takes root and debootstrap (apt-get install -y debootstrap)");
  process.exit(1);
}

if (values.release) {
  const isWell = await tryRelease({ tests: Number(values.times) });
  process.exit(isWell ? 0 : 1);
}

const { debian } = values;
if (!isDebian(debian)) {
  console.error(`Cannot make a machine: --debian takes 13 or 12, not ${debian}`);
  process.exit(1);
}

const steps = stepsOn(debian);
const machine = openMachine(values.machine ?? null, debian);
const rows: { step: Step; ran: Ran; missing: string[] }[] = [];
try {
  for (const step of [...steps, ...(values.tests ? [TESTS] : [])]) {
    // The first one makes what others go on with.
    if (values.only !== undefined && !new RegExp(values.only).test(step.name) && step !== steps[0]) continue;
    console.log(`\n== ${step.name}`);
    const ran = await step.does(machine);
    const missing = missingOf(step, ran);
    const lines = ran.said.split("\n");
    const told = missing.length > 0 ? lines.slice(-40) : lines.filter((line) => step.shows.test(line));
    const shown = values.verbose ? lines : told;
    for (const line of shown) console.log(`   ${line.slice(0, 200)}`);
    rows.push({ step, ran, missing });
  }
} finally {
  machine.remove();
}

console.log(`\nOn a bare Debian ${debian}, with Node ${process.version}, as an unprivileged user:\n`);
for (const { step, ran, missing } of rows) {
  const outcome = missing.length === 0 ? "ok    " : "FAILED";
  console.log(`${outcome} ${`${ran.seconds.toFixed(0)} s`.padStart(6)}  ${step.name}`);
  for (const what of missing) console.log(`                 ${what}`);
}
process.exitCode = rows.every(({ missing }) => missing.length === 0) ? 0 : 1;

/** What it should have done, and did not. */
function missingOf({ code = 0, says }: Step, ran: Ran): string[] {
  const wanted = says.filter((text) =>
    typeof text === "string" ? !ran.said.includes(text) : !text.test(ran.said),
  );
  return [
    ...(ran.code === code ? [] : [`exit code ${ran.code}, not ${code}`]),
    ...wanted.map((text) => `did not say ${String(text)}`),
  ];
}
