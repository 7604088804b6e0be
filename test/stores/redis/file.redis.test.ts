// For src/stores/engines/redis/
import { readFileSync, statSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { dumpRedis } from "../dump-store.ts";
import { beginsOfCommands, openRedisWithFile } from "../../support/stores/redis-file.ts";
import { run, someCommands } from "../twin/random-calls.ts";
import { checkInvariants } from "../twin/invariants.ts";

const COMMANDS = 120;
/** Places at which the file is cut: begins of what Redis wrote, and bytes within. */
const CUTS_AT_BEGINS = 30;
const CUTS_WITHIN = 30;

test("P25: whatever the store did, Redis' file cut anywhere is a store that fits together", async () => {
  const { server, store, file } = await openRedisWithFile();
  const from = statSync(file).size;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const [sequence = []] = fc.sample(someCommands({ minLength: COMMANDS, maxLength: COMMANDS }), {
    seed,
    numRuns: 1,
  });
  for (const [index, command] of sequence.entries()) await run(store, command, index + 10);
  await server.kill9();

  const bytes = readFileSync(file);
  const begins = beginsOfCommands(bytes, from);
  const cuts = [
    ...fc.sample(fc.constantFrom(...begins), { seed, numRuns: CUTS_AT_BEGINS }),
    ...fc.sample(fc.integer({ min: from, max: bytes.length }), { seed, numRuns: CUTS_WITHIN }),
  ];
  for (const cut of cuts) {
    await server.kill9();
    writeFileSync(file, bytes.subarray(0, cut));
    await server.restart();
    expect({ seed, cut, faults: checkInvariants(await dumpRedis([server.url])) }).toEqual({
      seed,
      cut,
      faults: [],
    });
  }
});
