// For src/http/stream/, src/threads/, src/listeners/
import { reachWhole } from "./clients/reached.ts";
import { describeStreams } from "./streams.ts";

describeStreams(reachWhole);
