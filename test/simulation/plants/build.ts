import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Plugin } from "esbuild";
import type { Plant } from "./plants.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Builds the simulation with the mistake in it, as one file that needs nothing else. */
export async function buildPlanted(plant: Plant, outfile: string): Promise<void> {
  const changed = new Set<string>();
  await build({
    entryPoints: [join(ROOT, "test/simulation/plants/until-found.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    plugins: [planting(plant, changed)],
    // Loaded on demand, which no simulation does.
    external: ["swagger-ui-dist"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  });
  for (const { file } of plant.changes) {
    if (!changed.has(file))
      throw new Error(`Cannot plant ${plant.name}: ${file} is no part of the simulation`);
  }
}

function planting({ name, changes }: Plant, changed: Set<string>): Plugin {
  return {
    name: "planting",
    setup(bundling) {
      bundling.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const file = relative(ROOT, path);
        let contents = await readFile(path, "utf8");
        for (const { from, to } of changes.filter((change) => change.file === file)) {
          if (contents.split(from).length !== 2) {
            throw new Error(`Cannot plant ${name}: its text does not stand in ${file} once`);
          }
          contents = contents.replace(from, () => to);
          changed.add(file);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}
