// For src/http/, src/admission/
import { describeBadInput } from "./bad-input.ts";
import { reachWhole } from "./reached.ts";

describeBadInput(reachWhole);
