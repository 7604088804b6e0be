// For src/threads/, src/http/widget-api/, src/http/server-api/, src/visitors/, src/stores/steps/
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, inject, onTestFinished, test } from "vitest";
import { embedded, openHouse, redis } from "../scenarios/houses.ts";
import { readStory, writeStory } from "./story.ts";
import { Teller } from "./teller.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const stories = readdirSync(here).filter((name) => name.endsWith(".story"));

test.for(inject("stores").flatMap((kind) => stories.map((name) => [name, kind] as const)))(
  "%s, on %s",
  async ([name, kind]) => {
    const text = readFileSync(`${here}${name}`, "utf8");
    const { about, steps } = readStory(text);
    const house = await openHouse(kind === "embedded" ? embedded : redis);
    onTestFinished(() => house.close());
    const teller = new Teller(house);
    const told = [];
    for (const step of steps) told.push({ ...step, answered: await teller.play(step) });
    const written = writeStory({ about, steps: told });
    if (process.env["STORIES"] === "write") writeFileSync(`${here}${name}`, written);
    expect(written).toBe(text);
    expect(await house.faults()).toEqual([]);
  },
);
