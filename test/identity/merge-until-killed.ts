import { once } from "node:events";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel } from "../stores/samples.ts";
import { prepareLink } from "./linking.ts";

/**
 * A process that prepares linkings, tells `prepared`, carries them out four at a time, and tells of each that was
 * acknowledged by its number, until it is killed, also where all are done before that. Ends by itself with its stdin alone.
 * Arguments: the folder, and how many.
 */
const [, , dataDir = "", count = ""] = process.argv;
const store = await openEmbeddedStore({ dataDir, clock: systemClock });
await store.putChannel(sampleChannel());
const links = await Promise.all(Array.from({ length: Number(count) }, (_, nth) => prepareLink(store, nth)));
process.stdout.write("prepared\n");

const waiting = [...links.entries()];
async function work(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [nth, link] = next;
    await link();
    process.stdout.write(`${nth}\n`);
  }
}
await Promise.all([work(), work(), work(), work()]);
await once(process.stdin.resume(), "end");
