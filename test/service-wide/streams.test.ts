import { reachWhole } from "./reached.ts";
import { describeStreams } from "./streams.ts";

describeStreams(reachWhole);
