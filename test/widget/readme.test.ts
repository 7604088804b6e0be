// For src/widget/README.md
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { inScript, loaded } from "../../src/widget/strings/en.ts";

const folder = fileURLToPath(new URL("../../src/widget/", import.meta.url));
const read = (name: string) => readFileSync(`${folder}${name}`, "utf8");
const readme = read("README.md");

/** Names in the first column of the table under a heading. */
function named(heading: string): string[] {
  const section = readme.split(`### ${heading}\n`)[1]?.split(/\n##/)[0] ?? "";
  const cells = section
    .split("\n")
    .flatMap((line) => (line.startsWith("| `") ? [line.split("|")[1] ?? ""] : []));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)).sort();
}

test("README names every part, and no other", () => {
  const files = ["view", "images"].flatMap((room) =>
    readdirSync(`${folder}${room}`, { recursive: true })
      .map((name) => `${room}/${String(name)}`)
      .filter((name) => /\.tsx?$/.test(name)),
  );
  const drawn = files.flatMap((name) => [
    ...read(name).matchAll(/part="([^"]+)"|setAttribute\("part", "([^"]+)"\)/g),
  ]);
  const parts = new Set(drawn.map(([, drawnAs, set = ""]) => drawnAs ?? set));
  expect(parts.size).toBeGreaterThan(20);
  expect(named("Parts")).toEqual([...parts].sort());
});

test("README names every string, and no other", () => {
  const all = { ...inScript, ...loaded };
  expect(named("Strings")).toEqual(Object.keys(all).sort());
});

test("README names every event, and no other", () => {
  const events = [...read("run/chat-agent-events.ts").matchAll(/^ {2}"?([a-z-]+)"?: (?:\{|Record)/gm)];
  expect(named("Events")).toEqual(events.map(([, name = ""]) => name).sort());
});
