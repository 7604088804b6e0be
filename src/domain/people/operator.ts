/** A person or a program that operates the service (contract, Operators). */
export type OperatorRole = "admin" | "agent" | "auditor";

export interface Operator {
  name: string;
  /** What visitors call the person; absent: by `name`. No two operators have the same. */
  displayName?: string;
  /** What visitors see beside the name: an image as a data: address. Absent: the name's first letters. */
  picture?: string;
  /** Whose conversations the inbox shows first; absent: all. It bounds nothing. */
  queues?: string[];
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

/** Who acts: an operator's name, or one of these. */
export type Actor = string;
export const COMMAND_LINE: Actor = "command line";
export const VISITOR: Actor = "visitor";
export const RETENTION: Actor = "retention";

/** May this operator see the channel? `null`: data that belongs to no channel. */
export function seesChannel({ channels }: Pick<Operator, "channels">, slug: string | null): boolean {
  return channels === null || (slug !== null && channels.includes(slug));
}
