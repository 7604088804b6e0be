import { encryptedForAnybody } from "../support/content-keys.ts";
import { describeStore } from "./contract.ts";
import { openForTest } from "./open-embedded.ts";

describeStore(
  "the embedded store with encrypted contents",
  async () => {
    const opened = await openForTest();
    return {
      ...opened,
      store: encryptedForAnybody(opened.store),
      reopen: async () => encryptedForAnybody(await opened.reopen()),
      another: async () => encryptedForAnybody((await opened.another()) ?? opened.store),
    };
  },
  { lacks: ["beats", "messages"] },
);
