import { newId } from "../../../domain/ids.ts";
import type { User } from "../../../domain/people/user.ts";
import type { Merge } from "../../../store.ts";
import type { Answers, Check, Pair, Step, Write } from "../../engine.ts";
import { tables, TOKEN, USER } from "../../tables.ts";
import { writesOfTellings } from "../channel-outbox.ts";
import { fieldIs, fieldsAre } from "../field-is.ts";
import { mergedDays, totalNote } from "./days.ts";
import { movedNames } from "./moved-names.ts";
import { ownerText } from "./new-thread.ts";
import { isSameCount } from "./tokens.ts";
import { slotOfChannel, uidFrom, USER_FIELDS, userDrops, userTexts, userWrites } from "./user-record.ts";

/** How long a run that began before a merge may still report tokens under the former user; the account pays for them. */
const MOVED_MS = 2 * 86_400_000;

const FIELDS = [...USER_FIELDS, USER.threads, USER.revocations];

type Found = Answers<ReturnType<typeof mergeReads>>;

/** What `mergeStep` decides from. */
export function mergeReads({ slug, tokenHash, from, into }: Merge) {
  const ofUser = (userId: string) =>
    [
      { read: "fields", key: tables.user.key(slug, userId), fields: FIELDS },
      { read: "hash", key: tables.names.key(slug, userId) },
      { read: "hash", key: tables.days.key(slug, userId) },
    ] as const;
  return [
    {
      read: "fields",
      key: tables.token.key(slug, tokenHash),
      fields: [TOKEN.user, TOKEN.ends, TOKEN.revocations],
    },
    ...ofUser(from.userId),
    ...ofUser(into.userId),
    { read: "hash", key: tables.contentKeys.key(slug, from.userId) },
    { read: "hash", key: tables.contentKeys.key(slug, into.userId) },
    { read: "scores", key: tables.users.key(slug), members: [into.userId] },
  ] as const;
}

/**
 * The step of a merge; null: something is not as the caller has read it. If a merge was stopped, the account may be as it
 * shall be already. The leaving user's record is dropped last: while it is there as it was read, the merge is not done.
 */
export function mergeStep(merge: Merge, found: Found): Step | null {
  const { slug, tokenHash, result, snapshot, tells = [] } = merge;
  const [[holder, , counted], left, leftNames, leftDays, right, rightNames, rightDays, ...rest] = found;
  const [leftKeys, rightKeys, [place]] = rest;
  const [from, into] = [merge.from.userId, merge.into.userId];
  const isAsRead = isRecordOf(right, merge.into);
  const isBound = holder === into;
  const isValid = holder === from && isSameCount(counted, left[USER_FIELDS.length + 1]);
  if (!isBound && !isValid) return null;
  if (!isRecordOf(left, merge.from) || !(isAsRead || isRecordOf(right, result))) return null;

  const key = (table: "user" | "names" | "days" | "contentKeys" | "tokens" | "moved", userId: string) =>
    tables[table].key(slug, userId);
  const token = tables.token.key(slug, tokenHash);
  const { names, renamed } = movedNames(leftNames, rightNames);
  const days = mergedDays(leftDays, rightDays);
  const threads = newId();
  const revocations = right[USER_FIELDS.length + 1] ?? null;

  return {
    name: "merge",
    slot: slotOfChannel(slug),
    checks: [
      fieldIs(token, TOKEN.user, from, into),
      ...fieldsAre(key("user", from), FIELDS, left),
      ...fieldsAre(key("user", into), FIELDS, right, [...userTexts(result), threads, revocations]),
      ...moving(key("days", from), leftDays),
      ...days.map(({ day, was, total }) => fieldIs(key("days", into), day, was, total)),
      ...moving(key("contentKeys", from), leftKeys),
    ],
    writes: [
      // First: what moves is encrypted by them. Where a stopped merge has moved one, it may have been wrapped anew since.
      ...setting(
        key("contentKeys", into),
        leftKeys.filter(([id]) => !rightKeys.some(([known]) => known === id)),
      ),
      ...setting(
        tables.owners.key(slug),
        names.map(([name, entry]) => [uidFrom(entry), ownerText(into, name)]),
      ),
      ...setting(key("names", into), names),
      // Noted before they are added: a repeat adds nothing twice.
      ...setting(key("days", from), days.map(totalNote)),
      ...setting(
        key("days", into),
        days.map(({ day, total }) => [day, total]),
      ),
      ...userWrites(key("user", into), isAsRead ? merge.into : result, result, [[USER.threads, threads]]),
      ...setting(token, [
        ...renamed.map(({ said, stored }): Pair => [TOKEN.renamed(said), stored]),
        [TOKEN.user, into],
        [TOKEN.snapshot, snapshot],
        [TOKEN.revocations, revocations ?? "0"],
      ]),
      ...setting(key("tokens", into), [[tokenHash, ""]]),
      ...setting(key("moved", from), [["into", into]]),
      { write: "expire", key: key("moved", from), inMs: MOVED_MS },
      ...blockedWrites(merge, place ?? 0),
      ...writesOfTellings(slug, tells),
      { write: "take", key: tables.users.key(slug), members: [from] },
      ...userDrops(slug, from),
    ],
  };
}

function isRecordOf(fields: readonly (string | null)[], user: User): boolean {
  return userTexts(user).every((text, nth) => fields[nth] === text);
}

/** What goes to the account and is dropped before the last write: nothing is added to it meanwhile. */
function moving(key: string, pairs: readonly Pair[]): Check[] {
  if (pairs.length === 0) return [{ check: "key", key, exists: false }];
  return pairs.map(([field, text]) => fieldIs(key, field, text, null));
}

function setting(key: string, fields: readonly Pair[]): Write[] {
  return fields.length > 0 ? [{ write: "set", key, fields }] : [];
}

function blockedWrites({ slug, from, into, result }: Merge, place: number): Write[] {
  const key = tables.blocked.key(slug);
  if (!result.blocked) return [{ write: "take", key, members: [from.userId, into.userId] }];
  return [
    { write: "put", key, members: [[into.userId, place]] },
    { write: "take", key, members: [from.userId] },
  ];
}
