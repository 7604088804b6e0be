// For src/http/, src/listeners/
import { reachWhole } from "./reached.ts";
import { describeStrangers } from "./strangers.ts";

describeStrangers(reachWhole);
