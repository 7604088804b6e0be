import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./answers.ts";
import { drawHouse } from "./draw-house.ts";
import { mapOfHouse, withMap } from "./house-map.ts";

/** `npm run map`: writes the map in README.md anew, from house.ts, and draws the house's picture from the imports. */
const readme = join(root, "README.md");
writeFileSync(readme, withMap(readFileSync(readme, "utf8"), mapOfHouse()));
writeFileSync(join(root, "src/house.svg"), await drawHouse());
