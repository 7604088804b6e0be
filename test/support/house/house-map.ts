import { BESIDE, BUNDLES, SERVICE } from "./house.ts";
import type { Place } from "./house.ts";

/** Every place of the house that has a sentence, the highest first. */
export function placesOfHouse(): Place[] {
  return [...servicePlaces(), ...BUNDLES, ...BESIDE].flatMap((place) => [place, ...(place.rooms ?? [])]);
}

/** README's map: what stands higher may import what stands lower. */
export function mapOfHouse(): string {
  return [
    ...servicePlaces().flatMap(rowsOf),
    "",
    "in a browser, each a bundle of its own:",
    ...BUNDLES.flatMap(rowsOf),
    "",
    ...BESIDE.flatMap(rowsOf),
  ].join("\n");
}

const BLOCK = /(^## The map$.*?^```\n)(.*?)(^```$)/ms;

/** The map in the text of README.md; null if it has none. */
export function mapIn(readme: string): string | null {
  return BLOCK.exec(readme)?.[2]?.trimEnd() ?? null;
}

export function withMap(readme: string, map: string): string {
  return readme.replace(
    BLOCK,
    (_, before: string, _old: string, after: string) => `${before}${map}\n${after}`,
  );
}

function servicePlaces(): Place[] {
  return SERVICE.toReversed().flatMap(({ places }) => places);
}

function rowsOf(place: Place): string[] {
  const rooms = (place.rooms ?? []).map((room) => row(`  ${room.path.slice(place.path.length)}`, room.is));
  return [row(place.path, place.is), ...rooms];
}

function row(path: string, is: string): string {
  return `${path.padEnd(22)}${is}`;
}
