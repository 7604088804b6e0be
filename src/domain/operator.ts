/** A person or a program that operates the service (contract, Operators). */
export type OperatorRole = "admin" | "agent" | "auditor";

export interface Operator {
  name: string;
  role: OperatorRole;
  /** SHA-256 of the `op_…` key, lower-case hex. The key itself is never stored. */
  keyHash: string;
  /** The channels that it is limited to; null: no limit. */
  channels: string[] | null;
  /** Of a person who signs in to the console by OpenID Connect. */
  signIn?: OperatorSignIn;
}

/** A person's identity at the provider. Only `subject` identifies a person: user names and addresses may be reassigned. */
export interface OperatorSignIn {
  issuer: string;
  subject: string;
  /** Oldest first; expired ones may still be among them. */
  sessions: OperatorSession[];
}

/** A session: a key that a sign-in made. */
export interface OperatorSession {
  /** SHA-256, as of the operator's own key. */
  keyHash: string;
  endsAtMs: number;
}

/** Names in the audit that are no operators. */
export const NO_OPERATORS = ["command line", "visitor", "retention"] as const;

export type Actor = string;

export const COMMAND_LINE: Actor = "command line";
export const VISITOR: Actor = "visitor";
export const RETENTION: Actor = "retention";

const LONGEST_NAME = 64;

/** What is wrong with an operator's name; null: nothing. The name appears in paths, tables and beside a person's messages. */
export function operatorNameFault(name: string): string | null {
  if (name === "" || name.length > LONGEST_NAME) return `must have 1 to ${LONGEST_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/]/u.test(name) || name.trim() !== name) {
    return "must have no slash, no control characters, and no space at either end";
  }
  const isTaken = NO_OPERATORS.some((other) => other === name.toLowerCase());
  return isTaken ? "is what the audit calls somebody else" : null;
}

/** May this operator see the channel? `null`: data that belongs to no channel. */
export function seesChannel({ channels }: Pick<Operator, "channels">, slug: string | null): boolean {
  return channels === null || (slug !== null && channels.includes(slug));
}
