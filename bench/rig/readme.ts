import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { withPlots } from "./plots.ts";

/** The parts of README.md with measured results: each is between two markers. */
const PARTS = {
  service: /(<!-- measured -->\n)[^]*(<!-- end -->)/,
  peers: /(<!-- peers measured -->\n)[^]*(<!-- peers end -->)/,
};

const README = fileURLToPath(new URL("../../../bench/README.md", import.meta.url));
const PLOTS = fileURLToPath(new URL("../../../bench/plots/", import.meta.url));

/** Puts the results into README.md, and writes the plots of its tables. */
export function writeMeasured(part: keyof typeof PARTS, measured: string): void {
  const text = readFileSync(README, "utf8");
  const place = PARTS[part];
  if (!place.test(text)) throw new Error(`Cannot write what was measured: ${README} has no place for it`);
  const { markdown, files } = withPlots(measured);
  mkdirSync(PLOTS, { recursive: true });
  for (const [name, svg] of files) writeFileSync(PLOTS + name, svg);
  writeFileSync(
    README,
    text.replace(place, (_, begin: string, end: string) => `${begin}\n${conditions()}\n${markdown}${end}`),
  );
}

export function conditions(): string {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  return `Node ${process.version}, ${cpus().length} × ${cpu?.model.trim() ?? "unknown"}, Linux, ${day}.\n`;
}
