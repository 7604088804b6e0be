import { holderOf } from "../../domain/fence.ts";
import type { Rule, Suspicion } from "../backup/rules.ts";
import { seenUids } from "../backup/seen-uids.ts";
import type { SeenUids } from "../backup/seen-uids.ts";
import type { BackupSource } from "../backup/source.ts";
import { suspectThread } from "../backup/suspect-thread.ts";
import type { Reader, RecordKind } from "../checks.ts";
import { isObject, isReadable } from "../checks.ts";
import { channelKind } from "../channel-record.ts";
import { auditKind, operatorKind } from "../operator-records.ts";
import type { Broken, Look } from "./look.ts";
import { looksAtOrders } from "./check-orders.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { pagesOf } from "./export.ts";
import { threadNameKind } from "./user-records.ts";

const RECORDS_AT_ONCE = 500;
const DAY_MS = 24 * 3_600_000;

/** Kinds of records that belong to a thread: `[KIND, UID, …]`. */
const PARTS = ["m", "r", "t", "p", "rs", "ri", "q", "id", "out"];

const raw: Reader<unknown> = (value) => value;

/**
 * Everything in the embedded store that seems to break a rule. The walk reads a snapshot; a find is checked again in
 * the current state, and repaired in the same change as that check.
 */
export async function* embeddedSuspicions(
  db: EmbeddedDb,
  options: {
    source: () => Pick<BackupSource, "thread" | "close">;
    nowMs: () => number;
    onWalked?: ((records: number) => void) | undefined;
  },
): AsyncIterable<Suspicion> {
  const { source, nowMs, onWalked = () => {} } = options;
  let walked = 0;
  const at = db.snapshot();
  const threads = source();
  try {
    // Until the restore has ended the records do not fit together.
    if (at.has(["restoring"])) {
      const isStill = () => db.read("look for a restore", () => db.has(["restoring"]));
      yield { rule: "restore has not ended", what: "restoring", isStill };
      return;
    }
    const named = await namesIn(at);
    const looks = looksAt(db, { nowMs, named });
    for (const [kind, look] of looks) {
      for await (const page of pagesOf(at, [kind], raw, RECORDS_AT_ONCE)) {
        for (const { key, value } of page) {
          const broken = look(key, value);
          if (broken) yield suspicion(db, look, key, broken);
          if (kind === "h") yield* threadSuspicions(String(key[1]), named);
        }
        walked += page.length;
        onWalked(walked);
      }
    }
  } finally {
    at.close();
    await threads.close();
  }

  async function* threadSuspicions(uid: string, named: SeenUids): AsyncIterable<Suspicion> {
    // From the snapshot: what is wrong there still is, unless it was repaired meanwhile.
    for (const found of await suspectThread(uid, threads))
      yield { ...found, isStill: () => isStillWrong(uid, found) };
    if (named.has(uid)) return;
    const isStill = () => db.read("look at a thread", () => db.has(["h", keyPart(uid)]) && !hasName(db, uid));
    yield { rule: "thread has no name", what: uid, isStill };
  }

  async function isStillWrong(uid: string, found: Suspicion): Promise<boolean> {
    const now = source();
    try {
      return (await suspectThread(uid, now)).some(({ rule }) => rule === found.rule);
    } finally {
      await now.close();
    }
  }
}

function suspicion(db: EmbeddedDb, look: Look, key: Key, { rule, mend }: Broken): Suspicion {
  const again = () => {
    const value = db.get(key, raw);
    return value === undefined ? null : look(key, value);
  };
  return {
    rule,
    what: key.join(" "),
    isStill: () => db.read("look at a record", () => again()?.rule === rule),
    ...(mend ? { mend: () => db.change("mend a record", () => again()?.mend?.()) } : {}),
  };
}

async function namesIn(at: Pick<EmbeddedDb, "range">): Promise<SeenUids> {
  const seen = seenUids();
  for await (const page of pagesOf(at, ["n"], threadNameKind.read, RECORDS_AT_ONCE)) {
    for (const { value } of page) seen.add(value.uid);
  }
  return seen;
}

function hasName(db: EmbeddedDb, uid: string): boolean {
  for (const { value } of db.range(["n"], threadNameKind.read)) if (value.uid === uid) return true;
  return false;
}

/** The checks by kind of record, except the check of a whole thread. */
function looksAt(
  db: EmbeddedDb,
  { nowMs, named }: { nowMs: () => number; named: SeenUids },
): [kind: string, look: Look][] {
  const field = (value: unknown, name: string) => (isObject(value) ? value[name] : undefined);
  const headerOf = (uid: string) => db.get(["h", keyPart(uid)], raw);
  const remove = (key: Key) => () => db.remove(key);
  const hasUser = (slug: unknown, userId: string) => db.has(["u", String(slug), keyPart(userId)]);

  const readable =
    ({ read }: Pick<RecordKind<unknown>, "read">): Look =>
    (key, value) =>
      isReadable(() => read(value, key)) ? null : { rule: "record cannot be read" };

  const user: Look = ([, slug = "", userId = ""], value) => {
    const [createdAtMs, external] = [field(value, "createdAtMs"), field(field(value, "user"), "externalId")];
    const place: Key = ["us", slug, Number(createdAtMs), userId];
    if (!db.has(place))
      return { rule: "user is not listed", mend: () => db.put(place, field(field(value, "user"), "userId")) };
    if (typeof external !== "string") return null;
    const leads: Key = ["x", slug, keyPart(external)];
    if (db.has(leads)) return null;
    return {
      rule: "account is not reached",
      mend: () => db.put(leads, field(field(value, "user"), "userId")),
    };
  };

  const leadsTo =
    (rule: Rule): Look =>
    (key, value) =>
      hasUser(key[1], String(value)) ? null : { rule, mend: remove(key) };

  const token: Look = (key, value) => {
    const expiry: Key = ["e", ...key.slice(1)];
    if (!hasUser(key[1], String(field(value, "userId")))) {
      const mend = () => {
        db.remove(key);
        db.remove(expiry);
      };
      return { rule: "token leads to nobody", mend };
    }
    if (db.has(expiry)) return null;
    return { rule: "token never ends", mend: () => db.put(expiry, nowMs() + DAY_MS) };
  };

  const held: Look = (key, value) => {
    const fence = field(headerOf(String(field(value, "uid"))), "fence");
    return fence === field(value, "fence")
      ? null
      : { rule: "hold of a thread that is not held so", mend: remove(key) };
  };

  const due: Look = (key, value) =>
    field(headerOf(String(value)), "dueAtMs") === key[1]
      ? null
      : { rule: "deadline of a thread that does not rest", mend: remove(key) };

  const header: Look = (key, value) => {
    const uid = String(key[1]);
    const [fence, dueAtMs] = [field(value, "fence"), field(value, "dueAtMs")];
    if (typeof fence === "string") {
      const hold: Key = ["held", keyPart(holderOf(fence)), uid];
      if (db.has(hold)) return null;
      return { rule: "thread is held and not listed", mend: () => db.put(hold, { uid, fence }) };
    }
    const state = field(value, "state");
    if (state !== "awaiting" && state !== "waiting_for_person") return null;
    const listed = typeof dueAtMs === "number" && db.has(["due", dueAtMs, uid]);
    if (listed) return null;
    const atMs = typeof dueAtMs === "number" ? dueAtMs : nowMs();
    const mend = () => {
      db.put(["due", atMs, uid], uid);
      // A cast: it has a state, so it is an object.
      db.put(key, { ...(value as object), dueAtMs: atMs });
    };
    return { rule: "resting thread has no deadline", mend };
  };

  const part: Look = (key) =>
    db.has(["h", String(key[1])]) ? null : { rule: "part of a thread that is not there", mend: remove(key) };

  const name: Look = (key) =>
    db.has(["u", String(key[1]), String(key[2])])
      ? null
      : { rule: "thread names of nobody", mend: remove(key) };

  const orders = looksAtOrders(db, (uid) => named.has(uid));
  return [
    ["c", readable(channelKind)],
    ["op", readable(operatorKind)],
    ["audit", readable(auditKind)],
    ["u", (key, value) => user(key, value) ?? orders.user(key, value)],
    ["us", leadsTo("listed user is gone")],
    ["x", leadsTo("external id leads to nobody")],
    ["v", token],
    ["n", (key, value) => name(key, value) ?? orders.name(key, value)],
    ["h", header],
    ["held", held],
    ["due", due],
    ...orders.lists,
    ...PARTS.map((kind): [string, Look] => [kind, part]),
  ];
}
