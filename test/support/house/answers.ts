import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * What each test file answers for, by its path from the root: the files and folders (with a `/` behind) that its first
 * line names, `// For src/agent/prompt.ts, src/agent/mcp/`. Empty where it begins with no such line.
 */
export function answersOfTests(): Map<string, string[]> {
  const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.test\.tsx?$/.test(name))
    .map((name) => `test/${name}`)
    .toSorted();
  return new Map(tests.map((test) => [test, placesIn(readFileSync(join(root, test), "utf8"))]));
}

/** The places that a test file's text begins with. A comma at a line's end continues the list in the next one. */
export function placesIn(text: string): string[] {
  const list = /^\/\/ For ((?:.*,\n\/\/ )*.*)\n/.exec(text)?.[1] ?? "";
  return list
    .replaceAll("\n// ", " ")
    .split(/,\s*/)
    .filter((place) => place !== "");
}

/** The test files that answer for this file: who names it comes first, then who names its folder, then wider folders. */
export function testsOf(file: string, answers = answersOfTests()): string[] {
  const nearness = (places: readonly string[]) =>
    Math.max(0, ...places.filter((place) => covers(place, file)).map((place) => place.length));
  return [...answers]
    .map(([test, places]) => ({ test, near: nearness(places) }))
    .filter(({ near }) => near > 0)
    .toSorted((one, other) => other.near - one.near)
    .map(({ test }) => test);
}

function covers(place: string, file: string): boolean {
  return place === file || (place.endsWith("/") && file.startsWith(place));
}
