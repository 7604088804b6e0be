import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";

const USAGE = `npm run test:repeat -- [options] [-- COMMAND …]: plays npm test, or another command, again and again

Runs that go on at the same time take the cores from each other, each in a clone of its own of what is committed here.
Exits 1 where not every run passed; what the failed ones printed is kept.

  --times N            so many runs (20)
  --at-once N          so many of them beside each other (2)
  --help               this`;

const { values, positionals } = parseArgs({
  options: {
    times: { type: "string", default: "20" },
    "at-once": { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}
const times = wholeNumber("times");
const atOnce = Math.min(wholeNumber("at-once"), times);
const [command = "npm", ...args] = positionals.length > 0 ? positionals : ["npm", "test"];

const scratch = mkdtempSync(join(tmpdir(), "repeat-"));
const outputs = mkdtempSync(join(tmpdir(), "repeat-outputs-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const root = execFileSync("git", ["rev-parse", "--show-toplevel"], { encoding: "utf8" }).trim();
const head = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
console.log(
  `${[command, ...args].join(" ")} at ${head}, ${times} times, ${atOnce} at once, with Node ${process.version} on ${availableParallelism()} cores`,
);

let begun = 0;
let passed = 0;
await Promise.all(Array.from({ length: atOnce }, (_, nth) => playRuns(join(scratch, String(nth)))));
console.log(`\n${passed} of ${times} passed`);
if (passed < times) console.log(`What the others printed is in ${outputs}`);
else rmSync(outputs, { recursive: true });
process.exitCode = passed === times ? 0 : 1;

/** Plays runs in a clone in this folder until all have begun. */
async function playRuns(folder: string): Promise<void> {
  execFileSync("git", ["clone", "--quiet", root, folder]);
  execFileSync("npm", ["ci", "--silent"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  while (begun < times) {
    const run = ++begun;
    const output = join(outputs, `${run}.txt`);
    const start = performance.now();
    const code = await play(folder, output);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`run ${run}: ${code === 0 ? "passed" : "FAILED"} in ${seconds} s${summaryOf(output)}`);
    if (code === 0) passed++;
    else for (const name of failuresOf(output)) console.log(`   ${name}`);
  }
}

/** Answers the exit code; null where a signal ended it. */
async function play(cwd: string, output: string): Promise<number | null> {
  const file = createWriteStream(output);
  await once(file, "open");
  const child = spawn(command, args, { cwd, stdio: ["ignore", file, file] });
  const [code] = (await once(child, "exit")) as [number | null];
  file.end();
  return code;
}

/** Vitest's own count of the tests, where it came to one. */
function summaryOf(output: string): string {
  const line = linesOf(output).findLast((each) => /^ +Tests /.test(each));
  return line === undefined ? "" : `: ${line.replace(/^ +Tests +/, "")}`;
}

function failuresOf(output: string): string[] {
  return [...new Set(linesOf(output).filter((line) => line.startsWith(" FAIL ")))].map((line) => line.trim());
}

function linesOf(output: string): string[] {
  return stripVTControlCharacters(readFileSync(output, "utf8")).split("\n");
}

function wholeNumber(name: "times" | "at-once"): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number > 0) return number;
  console.error(`--${name} takes a whole number above 0, not ${values[name]}`);
  process.exit(2);
}
