import { orSayWhyNot } from "./rig/cannot-measure.ts";
import { readOptions } from "./rig/options.ts";

/** One question in a process of its own, for bench.ts: `answer.js messages --listener=node`. */
const { names } = readOptions(process.argv.slice(2));
const file = import.meta.resolve(`./${names[0]}.js`);
await orSayWhyNot(() => import(file));
