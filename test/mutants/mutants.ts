import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomOf } from "../simulation/random.ts";
import { answersOfTests, root, testsOf } from "../support/house/answers.ts";
import { mutationsOf } from "./mutations.ts";

/** `npm run mutants`: does the suite find mistakes that are planted at random places? */
const HELP = `npm run mutants -- [--count 40] [--seed 1] [--nearest 12]

Plants one mistake after the other in src/ and machines/, at places drawn at random: turns a comparison or a condition
round, leaves a statement out. The tests that answer for the file (npm run tests-of) are played, the nearest first,
then types. Ends with 1 if one in twenty is not found. Commit before: each file is written back, unless it is killed.`;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    nearest: { type: "string", default: "12" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(HELP);
else process.exitCode = plantAll(Number(values.count), Number(values.seed), Number(values.nearest));

function plantAll(count: number, seed: number, nearest: number): number {
  const random = randomOf(seed, "mutants");
  const places = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /^(src|machines)\/.*\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
    .toSorted()
    .flatMap((file) =>
      mutationsOf(readFileSync(join(root, file), "utf8")).map((mutation) => ({ file, mutation })),
    );
  const answers = answersOfTests();
  let found = 0;
  for (let nth = 1; nth <= count; nth += 1) {
    const place = random.pickAny(places);
    if (place === undefined) break;
    const { file, mutation } = place;
    // What needs this process alone comes first: it is quick.
    const tests = testsOf(file, answers)
      .slice(0, nearest)
      .toSorted((one, other) => Number(/\.\w+\.test/.test(one)) - Number(/\.\w+\.test/.test(other)));
    const by = foundBy(file, mutation.line, mutation.after, tests);
    if (by !== null) found += 1;
    console.log(`${nth}. ${file}:${mutation.line} ${by === null ? "NOT FOUND" : `found by ${by}`}`);
    console.log(`   ${mutation.before.trim()}\n   ${mutation.after.trim() || "(left out)"}`);
  }
  console.log(`${found} of ${count} found`);
  return found >= count * 0.95 ? 0 : 1;
}

/** The test file that failed, or "types"; null: nothing did. */
function foundBy(file: string, line: number, after: string, tests: readonly string[]): string | null {
  const path = join(root, file);
  const text = readFileSync(path, "utf8");
  const lines = text.split("\n");
  writeFileSync(path, lines.with(line - 1, after).join("\n"));
  try {
    for (let at = 0; at < tests.length; at += 4) {
      const some = tests.slice(at, at + 4);
      const failed = failing("npx", [
        "vitest",
        "run",
        "--config",
        "test/vitest.config.ts",
        "--bail",
        "1",
        ...some,
      ]);
      if (failed !== null) return /FAIL\s+\S*\s*(?:\w+ )?(test\/\S+)/.exec(failed)?.[1] ?? some.join(", ");
    }
    return failing("npm", ["run", "--silent", "types"]) === null ? null : "types";
  } finally {
    writeFileSync(path, text);
  }
}

/** What a command printed that ended with an error, or hung for ten minutes; null: it ended well. */
function failing(command: string, args: readonly string[]): string | null {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    timeout: 600_000,
    env: { ...process.env, NO_COLOR: "1" },
  });
  return status === 0 ? null : stdout + stderr;
}
