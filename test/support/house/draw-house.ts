import { instance } from "@viz-js/viz";
import { darkSide } from "../../../machines/draw/dot.ts";
import { BUNDLES, SERVICE } from "./house.ts";
import type { Place } from "./house.ts";
import { importsOf, sourcesOfHouse } from "./imports.ts";

/** Colours on a light page; on a dark one each is exchanged for its partner. */
const PALETTE = {
  ink: { light: "#22272e", dark: "#e6e4df" },
  edge: { light: "#a9b0b9", dark: "#6d747e" },
  room: { light: "#ffffff", dark: "#24272c" },
  chart: { light: "#e3f1ec", dark: "#1f3a31" },
  contract: { light: "#eef1f4", dark: "#2d3138" },
  bundle: { light: "#fbf1e6", dark: "#3a2e22" },
  roomEdge: { light: "#4d5661", dark: "#9aa2ad" },
} as const;

/** Small files that nearly everything imports: one box. */
const BASICS = "log, config, keys, clock …";

const basics = SERVICE.find(({ name }) => name === "basics")?.places ?? [];

/**
 * The house as a picture (SVG), drawn by Graphviz from the imports: a box for each place of README's map, an arrow from
 * who imports to what is imported at run time. An arrow that follows from two others is left out.
 */
export async function drawHouse(): Promise<string> {
  const rooms = [...SERVICE.flatMap(({ places }) => places), ...BUNDLES].filter(
    (place) => !basics.includes(place),
  );
  const nameOf = (file: string): string | null => {
    const at = (places: readonly Place[]) =>
      places
        .filter(({ path }) => file === path || (path.endsWith("/") && file.startsWith(path)))
        .toSorted((one, other) => other.path.length - one.path.length)[0];
    if (at(basics) !== undefined) return BASICS;
    return (
      at(rooms)
        ?.path.replace(/^src\//, "")
        .replace(/\.ts$/, "")
        .replace(/\/$/, "") ?? null
    );
  };

  const ways = new Map<string, Set<string>>();
  for (const [file, text] of sourcesOfHouse()) {
    const from = nameOf(file);
    if (from === null || file.endsWith(".d.ts")) continue;
    const known = ways.get(from) ?? new Set();
    ways.set(from, known);
    for (const { to, typeOnly } of importsOf(file, text)) {
      const target = nameOf(to);
      if (target !== null && target !== from && !typeOnly) known.add(target);
    }
  }
  const direct = withoutDetours(ways);

  const graphviz = await instance();
  const svg = graphviz.renderString(dotOf(direct), { format: "svg", engine: "dot" });
  return finished(svg);
}

/** Without the ways that others say already: from a to c, where one leads from a over b to c. */
function withoutDetours(ways: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const reached = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of ways.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      reached(to, seen);
    }
    return seen;
  };
  return new Map(
    [...ways]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([from, targets]) => {
        const kept = [...targets].filter(
          (to) => ![...targets].some((other) => other !== to && reached(other).has(to)),
        );
        return [from, kept.toSorted()];
      }),
  );
}

function dotOf(ways: ReadonlyMap<string, readonly string[]>): string {
  const contracts = new Set(["store", "model", "trace", "listener"]);
  const bundles = new Set(BUNDLES.map(({ path }) => path.replace(/^src\//, "").replace(/\/$/, "")));
  const colorOf = (name: string) => {
    if (name === "machines") return PALETTE.chart.light;
    if (contracts.has(name)) return PALETTE.contract.light;
    return bundles.has(name) ? PALETTE.bundle.light : PALETTE.room.light;
  };
  const text = `fontname="Arial" fontcolor="${PALETTE.ink.light}" fontsize=14`;
  return [
    "digraph house {",
    `  graph [rankdir=TB bgcolor=transparent nodesep=0.25 ranksep=0.35 pad=0.2]`,
    `  node [shape=box style="rounded,filled" ${text} color="${PALETTE.roomEdge.light}" margin="0.16,0.06" height=0.35 penwidth=1.2]`,
    `  edge [color="${PALETTE.edge.light}" arrowsize=0.6 penwidth=1.1]`,
    ...[...ways.keys()].map((name) => `  "${name}" [fillcolor="${colorOf(name)}"]`),
    ...[...ways].flatMap(([from, targets]) => targets.map((to) => `  "${from}" -> "${to}"`)),
    "}",
  ].join("\n");
}

function finished(svg: string): string {
  const style = darkSide(Object.values(PALETTE));
  return svg
    .replace(/^[^]*?(?=<svg)/, "")
    .replaceAll(/<!--[^]*?-->\n/g, "")
    .replaceAll(/<title>[^<]*<\/title>\n/g, "")
    .replaceAll('font-family="Arial"', 'font-family="Helvetica, Arial, sans-serif"')
    .replaceAll(' xml:space="preserve"', "")
    .replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', ' role="img"')
    .replace(">\n", `>\n<title>What imports what</title>\n<style>${style}</style>\n`);
}
