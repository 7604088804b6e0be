import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel } from "../stores/samples.ts";
import { linkNext } from "./linking.ts";

/** A process that merges and promotes, one visitor after another, and tells each as LINKING and LINKED, until it is killed. */
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? "", clock: systemClock });
await store.putChannel(sampleChannel());
for (let nth = 0; ; nth++) {
  await linkNext(store, nth, (word) => void process.stdout.write(`${word} ${nth}\n`));
}
