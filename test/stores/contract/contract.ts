import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../../../src/store.ts";
import { channelThreadPromises } from "./channel-threads.ts";
import { channelPromises } from "./channels.ts";
import { commitPromises } from "./commit.ts";
import { deletionPromises } from "./deletions.ts";
import { feedbackPromises } from "./feedback.ts";
import { grantPromises } from "./grants.ts";
import { retentionPromises } from "./retention.ts";
import { deskPromises } from "./desk.ts";
import { branchPromises } from "./branches.ts";
import { historySummaryPromises } from "./history-summary.ts";
import { identityPromises } from "./identity.ts";
import { keptTextPromises } from "./kept-text.ts";
import { knowledgePromises } from "./knowledge.ts";
import { livenessPromises } from "./liveness.ts";
import { messageClaimPromises } from "./message-claim.ts";
import { operatorPromises } from "./operators.ts";
import { outboxPromises } from "./outbox.ts";
import { statsPromises } from "./stats.ts";
import { threadListPromises } from "./thread-list.ts";
import { threadPromises } from "./threads.ts";
import { userPagePromises } from "./user-pages.ts";
import { userPromises } from "./users.ts";

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
  branchPromises,
  deskPromises,
  grantPromises,
  knowledgePromises,
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
