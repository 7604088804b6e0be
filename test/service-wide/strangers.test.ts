// For src/http/, src/listeners/
import { reachWhole } from "./clients/reached.ts";
import { describeStrangers } from "./strangers.ts";

describeStrangers(reachWhole);
