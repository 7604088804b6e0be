// For src/listener.ts, src/listeners/uws.ts, src/listeners/uws/, src/listeners/
import { describe } from "vitest";
import { listenUws } from "../../src/listeners/uws.ts";
import { whyNoNativeBuild } from "../../src/listeners/uws/native-build.ts";
import { listenerSuite } from "./contract.ts";

const missing = whyNoNativeBuild();
describe.skipIf(missing !== null)(`uWebSockets.js${missing ? `: ${missing}` : ""}`, () => {
  listenerSuite("uws", listenUws);
});
