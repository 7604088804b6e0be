// For src/http/stream/, src/threads/, src/listeners/
import { reachWhole } from "./reached.ts";
import { describeStreams } from "./streams.ts";

describeStreams(reachWhole);
