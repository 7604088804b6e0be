import { writeFileSync } from "node:fs";
import { madeOfProtocol } from "./protocol.ts";
import { REFERENCE, referenceOfPackage } from "./reference.ts";

/** `npm run protocol`: writes anew what is made of the schemas of src/protocol. */
for (const [file, text] of await madeOfProtocol()) writeFileSync(file, text);
// It is made of client.d.ts.
writeFileSync(REFERENCE, referenceOfPackage());
