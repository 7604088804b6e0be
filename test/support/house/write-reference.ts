import { writeFileSync } from "node:fs";
import { REFERENCE, referenceOfPackage } from "./reference.ts";

/** `npm run reference`: writes the page of the package's types anew. */
writeFileSync(REFERENCE, referenceOfPackage());
