import type { Clock } from "../../clock.ts";
import type { Operator, OperatorSession } from "../../domain/people/operator.ts";
import { hashKey, newOperatorKey } from "../../keys.ts";
import type { Secret } from "../../secret.ts";
import type { OperatorStore } from "../../store.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";
import { changeOperator } from "./change-operator.ts";
import { takenBy } from "./operators.ts";

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
export async function signIn(
  { store, clock }: { store: SignInStore; clock: Pick<Clock, "now"> },
  person: SigningIn,
): Promise<SignedIn> {
  const { issuer, subject, granted } = person;
  const isPerson = ({ signIn: known }: Operator) => known?.issuer === issuer && known.subject === subject;
  const operators = await store.operators(() => {});
  const known = operators.find(isPerson);
  const name = known?.name ?? person.name;
  const acting = { store, clock, operator: name };
  if (granted === null) {
    if (known) {
      await note(acting, { action: "operators.remove", target: name, slug: null });
      await store.removeOperator(name);
    }
    return { type: "no-role" };
  }
  const by = known ? null : takenBy(name, operators);
  if (by !== null) return { type: "taken", name: by };

  const key = newOperatorKey();
  const session = { keyHash: hashKey(key), endsAtMs: clock.now() + SESSION_MS };
  await note(acting, { action: "operators.sign-in", target: name, slug: null, detail: { ...granted } });
  if (!known) {
    // Its own key is known to nobody, until somebody rotates it.
    const keyHash = hashKey(newOperatorKey());
    const operator = { name, ...granted, keyHash, signIn: { issuer, subject, sessions: [session] } };
    if (await store.addOperator(operator)) return { type: "signed-in", operator, key };
  }
  // Known before, or by another sign-in of the same person a moment ago.
  const operator = await changeOperator(store, isPerson, (one) => {
    const sessions = withSession(one.signIn?.sessions ?? [], session, clock.now());
    return { ...one, ...granted, signIn: { issuer, subject, sessions } };
  });
  return operator ? { type: "signed-in", operator, key } : { type: "taken", name };
}

/** Ends the session of this key; false if the key is not a session's. */
export async function signOut(acting: Acting<SignInStore>, key: Secret): Promise<boolean> {
  const keyHash = hashKey(key);
  const isIts = (session: OperatorSession) => session.keyHash === keyHash;
  const hasIt = ({ signIn: its }: Operator) => its?.sessions.some(isIts) ?? false;
  const operator = (await acting.store.operators(() => {})).find(hasIt);
  if (operator === undefined) return false;
  await note(acting, { action: "operators.sign-out", target: operator.name, slug: null });
  const left = await changeOperator(acting.store, hasIt, (one) => {
    if (one.signIn === undefined) return null;
    const sessions = one.signIn.sessions.filter((session) => !isIts(session));
    return { ...one, signIn: { ...one.signIn, sessions } };
  });
  return left !== null;
}

function withSession(
  sessions: readonly OperatorSession[],
  session: OperatorSession,
  nowMs: number,
): OperatorSession[] {
  return [...sessions.filter(({ endsAtMs }) => endsAtMs > nowMs), session].slice(-MOST_SESSIONS);
}
