// For src/stores/content-keys/, src/stores/sealing.ts
import { encryptedForAnybody } from "../support/content-keys.ts";
import { describeStore } from "./contract.ts";
import { openForTest } from "./open-embedded.ts";

describeStore("the embedded store with encrypted contents", () => openForTest(encryptedForAnybody()), {
  lacks: ["beats"],
});
