// The thread of a module in TypeScript: see start-worker.ts.
import { register } from "tsx/esm/api";

register();
await import(process.argv[2]);
