import type { Clock } from "../clock.ts";
import type { Operator, OperatorSession } from "../domain/operator.ts";
import { hashKey, newOperatorKey } from "../keys.ts";
import type { Secret } from "../secret.ts";
import type { OperatorStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

/**
 * Operators who sign in by OpenID Connect. The first sign-in makes the operator, each one sets the role that the provider
 * says, and makes a key for the tab that signed in, good for a day's work. Who comes without a role is removed.
 */
type SignInStore = Pick<
  OperatorStore,
  "operators" | "addOperator" | "replaceOperator" | "removeOperator" | "appendAudit"
>;

export interface SigningIn {
  issuer: string;
  subject: string;
  /** For somebody who is new here. */
  name: string;
  granted: Pick<Operator, "role" | "channels"> | null;
}

export type SignedIn =
  | { type: "signed-in"; operator: Operator; key: Secret }
  | { type: "no-role" }
  /** Somebody else has the name. */
  | { type: "taken"; name: string };

/** What a provider takes away is in force here when it ends: a working day. */
export const SESSION_MS = 12 * 3_600_000;
/** Each tab has one. The oldest ends where another begins. */
const MOST_SESSIONS = 50;
/** Others may sign in as the same person meanwhile. */
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
      // Its own key is nobody's, until somebody makes one.
      keyHash: known?.keyHash ?? hashKey(newOperatorKey()),
      signIn: { issuer, subject, sessions: withSession(known?.signIn?.sessions ?? [], session, clock.now()) },
    };
    await note(acting, { action: "operators.sign-in", target: name, slug: null, detail: { ...granted } });
    const isDone = await (known ? store.replaceOperator(operator) : store.addOperator(operator));
    if (isDone) return { type: "signed-in", operator, key };
    if (tried === TRIES) return { type: "taken", name };
  }
}

/** Ends the session of this key; false where the key is no session's. */
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
