import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawCharts } from "./draw-charts.ts";

/** `npm run machines`: draws every chart anew, beside it in machines/. */
const folder = fileURLToPath(new URL("../../../machines/", import.meta.url));

for (const [name, text] of await drawCharts()) {
  writeFileSync(join(folder, name), text);
  process.stdout.write(`machines/${name}\n`);
}
