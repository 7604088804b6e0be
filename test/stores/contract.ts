import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../../src/store.ts";
import { channelThreadPromises } from "./contract-channel-threads.ts";
import { channelPromises } from "./contract-channels.ts";
import { commitPromises } from "./contract-commit.ts";
import { deletionPromises } from "./contract-deletions.ts";
import { feedbackPromises } from "./contract-feedback.ts";
import { grantPromises } from "./contract-grants.ts";
import { retentionPromises } from "./contract-retention.ts";
import { historySummaryPromises } from "./contract-history-summary.ts";
import { identityPromises } from "./contract-identity.ts";
import { keptTextPromises } from "./contract-kept-text.ts";
import { livenessPromises } from "./contract-liveness.ts";
import { messageClaimPromises } from "./contract-message-claim.ts";
import { operatorPromises } from "./contract-operators.ts";
import { outboxPromises } from "./contract-outbox.ts";
import { statsPromises } from "./contract-stats.ts";
import { threadListPromises } from "./contract-thread-list.ts";
import { threadPromises } from "./contract-threads.ts";
import { userPagePromises } from "./contract-user-pages.ts";
import { userPromises } from "./contract-users.ts";

/** An implementation's empty store, opened for one test. */
export interface StoreUnderTest {
  store: Store;
  /** Closes the store and opens its data again as a new process would, with a process id of its own. */
  reopen: () => Promise<Store>;
  /** A second handle on the same data, open beside the first; null where the implementation cannot. */
  another: () => Promise<Store | null>;
  /** Lets time pass for lifetimes: sets the implementation's clock, or shortens what is left where a server's clock decides. */
  elapse: (ms: number) => Promise<void>;
  /** Closes every handle and leaves nothing behind. */
  clean: () => Promise<void>;
}

/** What an implementation may lack: `beats`, word of other processes that fell silent. */
export type Lack = "beats";

/** The implementation that the running test works on. */
export interface Bench {
  readonly it: StoreUnderTest;
}

type Promises = (bench: Bench, lacks: readonly Lack[]) => void;

const ALL: readonly Promises[] = [
  channelPromises,
  operatorPromises,
  userPromises,
  userPagePromises,
  identityPromises,
  commitPromises,
  threadPromises,
  threadListPromises,
  channelThreadPromises,
  statsPromises,
  deletionPromises,
  retentionPromises,
  messageClaimPromises,
  keptTextPromises,
  historySummaryPromises,
  grantPromises,
  feedbackPromises,
  outboxPromises,
  livenessPromises,
];

/** Holds an implementation to every sentence of src/store.ts, or to these. What it lacks is skipped by name. */
export function describeStore(
  name: string,
  open: () => Promise<StoreUnderTest>,
  {
    lacks = [],
    promises = ALL,
  }: { lacks?: readonly Lack[]; promises?: readonly Promises[] | undefined } = {},
): void {
  describe(`${name} keeps the store's contract`, () => {
    let opened: StoreUnderTest | undefined;
    const bench: Bench = {
      get it() {
        if (opened === undefined) throw new Error("Cannot use the store: no test is running");
        return opened;
      },
    };
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened?.clean();
      opened = undefined;
    });

    for (const hold of promises) hold(bench, lacks);
  });
}
