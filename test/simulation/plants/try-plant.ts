import { spawn } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KNOWN } from "../known.ts";
import { buildPlanted } from "./build.ts";
import type { Plant } from "./plants.ts";

export interface Found {
  /** null: it was not found. */
  invariant: string | null;
  tookMs: number;
  /** Of the processor. */
  cpuMs: number;
  seeds: number;
  /** What the simulation told. */
  report: string;
}

const PACKAGE = fileURLToPath(new URL("../../../package.json", import.meta.url));

/** Plants a mistake in a copy of the service, and runs seeds from the first one on until it is found. */
export async function tryPlant(
  plant: Plant,
  { first, minutes }: { first: number; minutes: number },
): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), "planted-"));
  try {
    const file = join(folder, `${plant.name}.mjs`);
    await buildPlanted(plant, file);
    // The service tells its version by the package.json above it.
    await copyFile(PACKAGE, join(folder, "package.json"));
    const known = Object.keys(KNOWN).join(",");
    const report = await outputOf(file, [String(first), String(minutes), known]);
    const line = /^FOUND (.*)$/m.exec(report)?.[1];
    if (line === undefined) throw new Error(`Cannot try ${plant.name}: ${report}`);
    return {
      ...(JSON.parse(line) as Omit<Found, "report">),
      report: report.replace(/^FOUND .*$/m, "").trim(),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function outputOf(file: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (bytes: Buffer) => (output += String(bytes)));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
