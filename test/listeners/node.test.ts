// For src/listener.ts, src/listeners/node.ts, src/listeners/node/, src/listeners/
import { listenNode } from "../../src/listeners/node.ts";
import { listenerSuite } from "./contract.ts";

listenerSuite("node", listenNode);
