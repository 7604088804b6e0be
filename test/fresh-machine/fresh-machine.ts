/**
 * `npm run fresh-machine`: what a person meets who has a bare Debian and this checkout, and nothing else. As root, with
 * debootstrap; minutes, and half an hour more with --tests. `--machine FOLDER` keeps the bare Debian for the next time.
 */
import { parseArgs } from "node:util";
import { pathOfCommand } from "../support/programs.ts";
import { openMachine } from "./machine.ts";
import type { Ran } from "./machine.ts";
import { STEPS, TESTS } from "./steps.ts";
import type { Step } from "./steps.ts";

const { values } = parseArgs({
  options: {
    tests: { type: "boolean", default: false },
    machine: { type: "string" },
    only: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

if (process.getuid?.() !== 0 || pathOfCommand("debootstrap") === null) {
  console.error("Cannot make a machine: it takes root and debootstrap (apt-get install -y debootstrap)");
  process.exit(1);
}

const machine = openMachine(values.machine ?? null);
const rows: { step: Step; ran: Ran; missing: string[] }[] = [];
try {
  for (const step of [...STEPS, ...(values.tests ? [TESTS] : [])]) {
    // The first one makes what others go on with.
    if (values.only !== undefined && !new RegExp(values.only).test(step.name) && step !== STEPS[0]) continue;
    console.log(`\n== ${step.name}`);
    const ran = await step.does(machine);
    const missing = missingOf(step, ran);
    const lines = ran.said.split("\n");
    const shown =
      missing.length > 0 || values.verbose ? lines.slice(-40) : lines.filter((line) => step.shows.test(line));
    for (const line of shown) console.log(`   ${line.slice(0, 200)}`);
    rows.push({ step, ran, missing });
  }
} finally {
  machine.remove();
}

console.log(`\nOn a bare Debian, with Node ${process.version}, as an unprivileged user:\n`);
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
