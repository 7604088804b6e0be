import type { Store } from "../../src/store.ts";
import {
  BUDGET_CHARS,
  DAY,
  sampleChannel,
  sampleCommit,
  sampleMessage,
  sampleRun,
  sampleWaiting,
} from "../stores/samples.ts";

/** Where a step is taken: names that nobody else uses. */
export interface Place {
  slug: string;
  uid: string;
}

/** One call of the store, and what is there before it. The same on every store. */
export interface Step {
  name: string;
  before: (store: Store, place: Place) => Promise<unknown>;
  take: (store: Store, place: Place) => Promise<unknown>;
}

const TTL_MS = 1_000_000;

/** A channel with one visitor, so that the list of users is there. */
async function open(store: Store, { slug }: Place): Promise<void> {
  await store.putChannel(sampleChannel({ slug }));
  await mint(store, slug, "h0", "u0", 4);
}

function mint(store: Store, slug: string, tokenHash: string, userId: string, atMs = 5): Promise<void> {
  return store.mintVisitor({ slug, tokenHash, userId, snapshot: "anonymous", ttlMs: TTL_MS, atMs });
}

function admit(store: Store, { slug }: Place): Promise<unknown> {
  return store.admitVisitor({ slug, tokenHash: "h1", ttlMs: TTL_MS, threadId: "n" });
}

function call(store: Store, { slug }: Place, displayName: string): Promise<unknown> {
  const thread = { name: "n", newUid: `of-kim-${displayName}` };
  const known = { slug, externalId: "kim", newUserId: "u2", thread, creates: true, atMs: 6 };
  return store.admitUser({ ...known, displayName });
}

/** A visitor with a thread. */
async function visit(store: Store, place: Place): Promise<void> {
  await open(store, place);
  await mint(store, place.slug, "h1", "u1");
  await store.addThread({ slug: place.slug, userId: "u1", threadId: "n", uid: "of-u1", atMs: 7 });
}

/** A visitor and an account, each with a thread of the same name. */
async function visitAndCall(store: Store, place: Place): Promise<void> {
  await visit(store, place);
  await call(store, place, "Kim");
}

function spend({ slug }: Place, store: Store, userId: string): Promise<void> {
  return store.spendTokens({ slug, userId, day: DAY, tokens: 3 });
}

async function identify(store: Store, { slug }: Place): Promise<unknown> {
  const { visitor, account } = await store.readIdentity(slug, "h1", "kim");
  if (!visitor) return "unknown";
  const binding = { slug, tokenHash: "h1", snapshot: "bound" };
  if (!account) return store.promote({ ...binding, externalId: "kim", user: visitor.user });
  return store.merge({ ...binding, from: visitor.user, into: account, result: account });
}

/** Steps of the channel plane: all of a channel's keys are in one slot. */
export const channelSteps: Step[] = [
  { name: "mintVisitor", before: open, take: (store, { slug }) => mint(store, slug, "h1", "u1") },
  { name: "admitVisitor", before: visit, take: admit },
  {
    name: "admitVisitor of one who has spent tokens",
    before: (store, place) => visit(store, place).then(() => spend(place, store, "u1")),
    take: admit,
  },
  { name: "admitUser of a new user", before: open, take: (store, place) => call(store, place, "Kim") },
  {
    name: "admitUser of a known user with a new name",
    before: (store, place) => visit(store, place).then(() => call(store, place, "Kim")),
    take: (store, place) => call(store, place, "K."),
  },
  {
    name: "addThread",
    before: (store, place) => open(store, place).then(() => mint(store, place.slug, "h1", "u1")),
    take: (store, { slug }) => store.addThread({ slug, userId: "u1", threadId: "n", uid: "of-u1", atMs: 7 }),
  },
  { name: "spendTokens", before: visit, take: (store, place) => spend(place, store, "u1") },
  {
    name: "flagUser",
    before: visit,
    take: (store, { slug }) => store.flagUser(slug, "u1", { blocked: true }),
  },
  {
    name: "keepGrant",
    before: visit,
    async take(store, { slug }) {
      await store.keepGrant({ slug, userId: "u1", server: "crm", text: "tokens" });
      return [await store.grant(slug, "u1", "crm"), await store.grantedServers(slug, "u1")];
    },
  },
  {
    name: "keepSignIn",
    before: visit,
    async take(store, { slug }) {
      await store.keepSignIn({ slug, userId: "u1", stateHash: "s1", text: "verifier", ttlMs: TTL_MS });
      return [await store.takeSignIn(slug, "s1"), await store.takeSignIn(slug, "s1")];
    },
  },
  { name: "findUser", before: visitAndCall, take: (store, { slug }) => store.findUser(slug, "kim") },
  { name: "users", before: visitAndCall, take: (store, { slug }) => store.users(slug) },
  { name: "identify as a new account", before: visit, take: identify },
  { name: "identify as a known account", before: visitAndCall, take: identify },
  {
    name: "identify as a known account, where both have spent tokens",
    async before(store, place) {
      await visitAndCall(store, place);
      await spend(place, store, "u1");
      await spend(place, store, "u2");
    },
    take: identify,
  },
  {
    name: "readIdentity of one who is bound",
    before: (store, place) => visitAndCall(store, place).then(() => identify(store, place)),
    take: (store, { slug }) => store.readIdentity(slug, "h1", "kim"),
  },
];

const FENCE = "p1:a";

function named(runId: string) {
  return { ...sampleWaiting(runId), clientMessageId: "said-once" };
}

function claim({ uid, slug }: Place) {
  return sampleCommit({ uid, slug, opId: "claim", fence: FENCE, messages: [sampleMessage(1)] });
}

/** The run goes on, on revision 1. */
function next(place: Place) {
  return { ...claim(place), opId: "next", claims: false, rev: 1, messages: [sampleMessage(2)] };
}

async function held(store: Store, place: Place): Promise<unknown> {
  return store.commit(claim(place));
}

async function rateable(store: Store, place: Place): Promise<unknown> {
  return store.commit({ ...claim(place), messages: [sampleMessage(1, { role: "assistant" })] });
}

/** A claim with a message that its caller gave an id. */
async function said(store: Store, place: Place): Promise<unknown> {
  return store.commit({ ...claim(place), orWait: { message: named("r1"), max: 3 } });
}

async function queued(store: Store, place: Place): Promise<unknown> {
  await held(store, place);
  return store.wait(place.uid, sampleWaiting("r2"), 3);
}

/** Steps of the thread plane: all keys of a bucket are in one slot. */
export const threadSteps: Step[] = [
  { name: "commit that claims a new thread", before: async () => {}, take: held },
  {
    name: "commit by the holder",
    before: held,
    take: (store, place) => store.commit(next(place)),
  },
  {
    name: "commit that is said again",
    before: held,
    take: held,
  },
  {
    name: "commit that releases the thread",
    before: held,
    take: (store, place) => store.commit({ ...next(place), state: "idle", holds: false }),
  },
  {
    name: "commit that waits for the page",
    before: held,
    take: (store, place) => store.commit({ ...next(place), state: "awaiting", holds: false, deadlineMs: 50 }),
  },
  {
    name: "commit that claims a thread at rest",
    before: (store, place) =>
      held(store, place).then(() =>
        store.commit({ ...next(place), state: "awaiting", holds: false, deadlineMs: 50 }),
      ),
    take: (store, place) =>
      store.commit({
        ...claim(place),
        opId: "again",
        fence: "p1:b",
        rev: 2,
        messages: [sampleMessage(3)],
      }),
  },
  {
    name: "commit that starts the only message that waits",
    before: queued,
    take: (store, place) =>
      store.commit({
        ...next(place),
        startsWaiting: "r2",
        run: sampleRun("r2"),
        endedRun: sampleRun("r1", { outcome: "superseded" }),
      }),
  },
  {
    name: "commit that takes the thread from another process",
    before: held,
    take: (store, place) =>
      store.commit({
        ...claim(place),
        opId: "take",
        fence: "p2:a",
        takesFrom: FENCE,
        rev: 1,
        messages: [sampleMessage(2)],
      }),
  },
  {
    name: "commit that finds the thread held, and waits",
    before: held,
    take: (store, place) =>
      store.commit({
        ...claim(place),
        opId: "late",
        fence: "p2:a",
        orWait: { message: sampleWaiting("r2"), max: 3 },
      }),
  },
  {
    name: "commit that claims a message's id",
    before: async () => {},
    take: said,
  },
  {
    name: "commit of a message that was said before",
    before: said,
    take: (store, place) =>
      store.commit({
        ...claim(place),
        opId: "again",
        fence: "p2:a",
        rev: 1,
        orWait: { message: named("r2"), max: 3 },
      }),
  },
  {
    name: "wait with a message's id",
    before: held,
    take: (store, { uid }) => store.wait(uid, named("r2"), 3),
  },
  { name: "wait", before: held, take: (store, { uid }) => store.wait(uid, sampleWaiting("r2"), 3) },
  { name: "load", before: held, take: (store, { uid }) => store.load(uid, BUDGET_CHARS) },
  {
    name: "load of a thread with a queue",
    before: queued,
    take: (store, { uid }) => store.load(uid, BUDGET_CHARS),
  },
  {
    name: "load of nothing",
    before: async () => {},
    take: (store, { uid }) => store.load(uid, BUDGET_CHARS),
  },
  {
    name: "setCatalog",
    before: held,
    take: (store, { uid, slug }) => store.setCatalog(uid, slug, [{ name: "tool" }]),
  },
  {
    name: "setCatalog before the first message",
    before: async () => {},
    take: (store, { uid, slug }) => store.setCatalog(uid, slug, [{ name: "tool" }]),
  },
  {
    name: "keepPart",
    before: held,
    take: async (store, { uid }) => [
      await store.keepPart({ uid, fence: FENCE, runId: "r1", nth: 0, text: "part" }),
      await store.keptText(uid, "r1", 1),
    ],
  },
  {
    name: "keepImages",
    before: held,
    take: async (store, { uid }) => {
      await store.keepImages({ uid, runId: "r1", images: ["data:image/png;base64,iVBORw0KGgo="] });
      return store.keptImages(uid, "r1");
    },
  },
  {
    name: "keepHistorySummary",
    before: held,
    take: async (store, { uid, slug }) => {
      const summary = { text: "Kim wants red shoes.", upTo: 1, atMs: 2_000, model: "p/m", usage: null };
      await store.keepHistorySummary({ uid, slug, summary, after: 0 });
      return store.historySummary(uid);
    },
  },
  {
    name: "keepDesk",
    before: held,
    take: async (store, { uid, slug }) => {
      const desk = { rev: 1, labels: ["refund"], snoozed: null, notes: 1 };
      const note = { id: "1", by: "ann", text: "Known for returns", atMs: 2_000 };
      await store.keepDesk({ uid, slug, desk, note, atMs: 2_000 });
      return [await store.desk(uid), await store.notes(uid)];
    },
  },
  {
    name: "rate",
    before: rateable,
    take: async (store, { uid }) => {
      const rating = { uid, opId: "rates", messageId: "1", atMs: 2_000, tells: [] };
      return await store.rate({ ...rating, feedback: { rating: "up", atMs: 2_000 } });
    },
  },
  {
    name: "history",
    before: held,
    take: (store, { uid }) => store.history(uid, { limit: 10, before: "2" }),
  },
  {
    name: "history within a budget",
    before: held,
    take: (store, { uid }) => store.history(uid, { limit: 10, before: null, budgetChars: 1_000 }),
  },
  { name: "runs", before: held, take: (store, { uid }) => store.runs(uid, 10) },
];

/** All that can be read of a place. */
export async function lookAt(store: Store, { slug, uid }: Place): Promise<unknown> {
  const users = await store.users(slug);
  return {
    users,
    threads: await Promise.all(users.map(({ userId }) => store.threads(slug, userId))),
    spent: await Promise.all(users.map(({ userId }) => store.spentTokens(slug, userId, DAY))),
    tokens: await Promise.all(["h0", "h1"].map((hash) => store.readIdentity(slug, hash, "kim"))),
    record: await store.load(uid, BUDGET_CHARS),
    history: await store.history(uid, { limit: 10, before: null }),
    runs: await store.runs(uid, 10),
    held: (await Promise.all([store.heldBy("p1"), store.heldBy("p2")])).map((holds) =>
      holds.filter((hold) => hold.uid === uid),
    ),
    due: (await store.due(100, 1_000)).filter((each) => each === uid),
  };
}
