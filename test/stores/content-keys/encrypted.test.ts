// For src/stores/content-keys/, src/stores/sealing.ts
import { encryptedForAnybody } from "../../support/stores/content-keys.ts";
import { describeStore } from "../contract/contract.ts";
import { openForTest } from "../lmdb/open-embedded.ts";

describeStore("the embedded store with encrypted contents", () => openForTest(encryptedForAnybody()), {
  lacks: ["beats"],
});
