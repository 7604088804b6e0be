import type { Clock } from "../clock.ts";
import type { Operator, OperatorSession } from "../domain/operator.ts";
import { hashKey, newOperatorKey } from "../keys.ts";
import type { Secret } from "../secret.ts";
import type { OperatorStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

/**
 * Operators who sign in by OpenID Connect. The first sign-in creates the operator; each one sets the provider's role,
 * and creates a key for the tab that signed in, valid for a working day. An operator who signs in without a role is
 * removed.
 */
type SignInStore = Pick<
  OperatorStore,
  "operators" | "addOperator" | "replaceOperator" | "removeOperator" | "appendAudit"
>;

export interface SigningIn {
  issuer: string;
  subject: string;
  /** For a new operator. */
  name: string;
  granted: Pick<Operator, "role" | "channels"> | null;
}

export type SignedIn =
  | { type: "signed-in"; operator: Operator; key: Secret }
  | { type: "no-role" }
  /** Another operator has the name. */
  | { type: "taken"; name: string };

/** A role removed at the provider ends here with the session at the latest: a working day. */
export const SESSION_MS = 12 * 3_600_000;
/** Each tab has one session. One more ends the oldest. */
const MOST_SESSIONS = 50;
/** Tries in total: the same person may sign in elsewhere meanwhile. */
const TRIES = 3;

export async function signIn(
  { store, clock }: { store: SignInStore; clock: Pick<Clock, "now"> },
  person: SigningIn,
): Promise<SignedIn> {
  const { issuer, subject, granted } = person;
  for (let tried = 1; ; tried += 1) {
    const operators = await store.operators(() => {});
    const known = operators.find(({ signIn }) => signIn?.issuer === issuer && signIn.subject === subject);
    const name = known?.name ?? person.name;
    const acting = { store, clock, operator: name };
    if (granted === null) {
      if (known) {
        await note(acting, { action: "operators.remove", target: name, slug: null });
        await store.removeOperator(name);
      }
      return { type: "no-role" };
    }
    if (!known && operators.some((other) => other.name === name)) return { type: "taken", name };

    const key = newOperatorKey();
    const session = { keyHash: hashKey(key), endsAtMs: clock.now() + SESSION_MS };
    const operator: Operator = {
      name,
      ...granted,
      // Its own key is known to nobody, until somebody rotates it.
      keyHash: known?.keyHash ?? hashKey(newOperatorKey()),
      signIn: { issuer, subject, sessions: withSession(known?.signIn?.sessions ?? [], session, clock.now()) },
    };
    await note(acting, { action: "operators.sign-in", target: name, slug: null, detail: { ...granted } });
    const isDone = await (known ? store.replaceOperator(operator) : store.addOperator(operator));
    if (isDone) return { type: "signed-in", operator, key };
    if (tried === TRIES) return { type: "taken", name };
  }
}

/** Ends the session of this key; false if the key is not a session's. */
export async function signOut(acting: Acting<SignInStore>, key: Secret): Promise<boolean> {
  const keyHash = hashKey(key);
  const isIts = (session: OperatorSession) => session.keyHash === keyHash;
  const operators = await acting.store.operators(() => {});
  const operator = operators.find(({ signIn }) => signIn?.sessions.some(isIts));
  if (operator?.signIn === undefined) return false;
  const sessions = operator.signIn.sessions.filter((session) => !isIts(session));
  await note(acting, { action: "operators.sign-out", target: operator.name, slug: null });
  return acting.store.replaceOperator({ ...operator, signIn: { ...operator.signIn, sessions } });
}

function withSession(
  sessions: readonly OperatorSession[],
  session: OperatorSession,
  nowMs: number,
): OperatorSession[] {
  return [...sessions.filter(({ endsAtMs }) => endsAtMs > nowMs), session].slice(-MOST_SESSIONS);
}
