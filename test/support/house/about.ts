import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { answersOfTests, root, testsOf } from "./answers.ts";
import { placesOfHouse } from "./house-map.ts";

/** `npm run about -- FILE[:LINE] …`: the room, the tests and the promises of a file of src/ or machines/. */
const HELP = `npm run about -- FILE[:LINE] [FILE ...]

Prints of each file of src/ or machines/ what its rooms are for, the tests that answer for it, the nearest first, and the
promises that these prove (test/README.md, machines/README.md).`;

/** The nearest tests; those of all files alike (names, regular expressions) are left out. */
const NEAREST = 6;

/** What is known of a file: `rooms` from the house down to it. */
export interface About {
  rooms: string[];
  tests: string[];
  /** `P9 A dead process's runs …`, in the order of their numbers. */
  promises: string[];
}

export function aboutFile(file: string): About {
  const rooms = placesOfHouse()
    .filter(({ path }) => file === path || (path.endsWith("/") && file.startsWith(path)))
    .toSorted((one, other) => one.path.length - other.path.length)
    .map(({ path, is }) => `${path}  ${is}`);
  const answers = answersOfTests();
  const tests = testsOf(file, answers)
    .filter((test) => !answers.get(test)?.includes("src/"))
    .slice(0, NEAREST);
  return { rooms, tests, promises: promisesOf(tests) };
}

const PROMISES = "test/README.md";
/** Numbered anew there, and in other tests for other things. */
const INVARIANTS = "machines/README.md";

/** In the name of a test, or before it: `P9: …`, `T9 T10: …`. */
const PROOF = /(?:["`]|\/\*\* )((?:[A-Z]\d{1,2} ?)+):/g;

/** A promise is a row of a table that begins with its number. It names its tests, or they name it. */
function promisesOf(tests: readonly string[]): string[] {
  const named = new Set(
    tests.flatMap((test) =>
      [...readFileSync(join(root, test), "utf8").matchAll(PROOF)].flatMap(([, numbers = ""]) =>
        numbers.split(" "),
      ),
    ),
  );
  const places = tests.map((test) => test.slice("test/".length).replace(/(?:\.[a-z-]+)?\.test\.tsx?$/, ""));
  const pages = tests.some((test) => test.startsWith("test/machines/")) ? [PROMISES, INVARIANTS] : [PROMISES];
  return pages
    .flatMap((page) => readFileSync(join(root, page), "utf8").split("\n"))
    .flatMap((line) => {
      const [, number = "", promise = "", ...proved] = line.split("|").map((cell) => cell.trim());
      if (!/^[A-Z]\d{1,2}$/.test(number)) return [];
      const words = new Set(proved.join(" ").split(/[\s,()]+/));
      return named.has(number) || places.some((place) => words.has(place)) ? [`${number} ${promise}`] : [];
    });
}

function print(file: string): void {
  const { rooms, tests, promises } = aboutFile(file);
  const list = (title: string, lines: readonly string[]) =>
    console.log(
      [`  ${title}`, ...(lines.length > 0 ? lines : ["none"]).map((line) => `    ${line}`)].join("\n"),
    );
  console.log(file);
  list("rooms", rooms);
  list("tests", tests);
  list("promises", promises);
}

if (process.argv[1] === import.meta.filename) {
  const asked = process.argv.slice(2).map((each) => each.replace(/:\d+$/, ""));
  const files = asked.map((file) => relative(root, resolve(process.env["INIT_CWD"] ?? ".", file)));
  const lost = files.find((file) => !existsSync(join(root, file)));
  if (asked.length === 0 || asked.includes("--help")) console.log(HELP);
  else if (lost !== undefined) {
    console.error(`There is no ${lost}`);
    process.exitCode = 1;
  } else for (const file of files) print(file);
}
