/** A person or a program of the ones who run the service (contract, Operators). */
export type OperatorRole = "admin" | "agent" | "auditor";

export interface Operator {
  name: string;
  role: OperatorRole;
  /** SHA-256 of the `op_…` key, lower-case hex. The key itself is never stored. */
  keyHash: string;
  /** Slugs that it is limited to; null: none. */
  channels: string[] | null;
  /** Of a person who signs in to the console by OpenID Connect. */
  signIn?: OperatorSignIn;
}

/** Who a person is for the provider, which names them by `subject` alone: user names and addresses change hands. */
export interface OperatorSignIn {
  issuer: string;
  subject: string;
  /** The oldest first; those that ended may still be among them. */
  sessions: OperatorSession[];
}

/** A key that a sign-in made. */
export interface OperatorSession {
  /** SHA-256, as of the operator's own key. */
  keyHash: string;
  endsAtMs: number;
}

/** Who acts in an entry of the audit without being an operator. */
export const NO_OPERATORS = ["command line", "visitor", "retention"] as const;

export type Actor = string;

export const COMMAND_LINE: Actor = "command line";
export const VISITOR: Actor = "visitor";
export const RETENTION: Actor = "retention";

const LONGEST_NAME = 64;

/** Why nobody can have this name; null: somebody can. It stands in paths, tables, and beside what a person says. */
export function operatorNameFault(name: string): string | null {
  if (name === "" || name.length > LONGEST_NAME) return `must have 1 to ${LONGEST_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/]/u.test(name) || name.trim() !== name) {
    return "must have no slash, no control characters, and no space at either end";
  }
  const isTaken = NO_OPERATORS.some((other) => other === name.toLowerCase());
  return isTaken ? "is what the audit calls somebody else" : null;
}

/** Does what this operator may see include the channel? `null`: what belongs to no channel. */
export function seesChannel({ channels }: Pick<Operator, "channels">, slug: string | null): boolean {
  return channels === null || (slug !== null && channels.includes(slug));
}
