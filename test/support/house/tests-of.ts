import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { root, testsOf } from "./answers.ts";

/** `npm run tests-of -- FILE …`: which tests answer for a file, the nearest first (test/README.md). */
const HELP = `npm run tests-of -- FILE [FILE ...]

Prints the test files that answer for these files of src/ or machines/, one a line, the nearest first.
  npx vitest run --config test/vitest.config.ts $(npm run -s tests-of -- src/agent/prompt.ts)`;

const files = process.argv.slice(2);
if (files.length === 0 || files.includes("--help")) {
  console.log(HELP);
} else {
  const named = files.map((file) => relative(root, resolve(process.env["INIT_CWD"] ?? ".", file)));
  const lost = named.filter((file) => !existsSync(resolve(root, file)));
  if (lost.length > 0) {
    console.error(`There is no ${lost.join(", no ")}`);
    process.exitCode = 1;
  } else {
    console.log([...new Set(named.flatMap((file) => testsOf(file)))].join("\n"));
  }
}
