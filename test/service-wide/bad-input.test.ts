// For src/http/, src/admission/
import { describeBadInput } from "./bad-input.ts";
import { reachWhole } from "./clients/reached.ts";

describeBadInput(reachWhole);
