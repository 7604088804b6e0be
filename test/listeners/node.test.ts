import { listenNode } from "../../src/listeners/node.ts";
import { listenerSuite } from "./contract.ts";

listenerSuite("node", listenNode);
