import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { mapOfHouse, withMap } from "./house-map.ts";

/** `npm run map`: writes the map in README.md anew, from house.ts. */
const readme = fileURLToPath(new URL("../../README.md", import.meta.url));
writeFileSync(readme, withMap(readFileSync(readme, "utf8"), mapOfHouse()));
