import type { Operator } from "../../domain/people/operator.ts";
import { isSameName } from "../../domain/people/operator-name.ts";
import { hashKey, newOperatorKey } from "../../keys.ts";
import type { Secret } from "../../secret.ts";
import type { ChannelStore, OperatorStore } from "../../store.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";
import { changeOperator } from "./change-operator.ts";

type Changing = Acting<
  Pick<OperatorStore, "operators" | "addOperator" | "replaceOperator" | "removeOperator">
>;

export type Added =
  /** The key is never shown again. */
  | { type: "added"; key: Secret }
  /** `by`: who has that name, or one that looks like it. */
  | { type: "taken"; by: string }
  /** An operator of that channel alone would see nothing. */
  | { type: "unknown-channel"; slug: string };

export async function addOperator(
  acting: Changing & Acting<Pick<ChannelStore, "channels">>,
  operator: Pick<Operator, "name" | "displayName" | "queues" | "role" | "channels">,
): Promise<Added> {
  const { name, displayName = name, role, channels } = operator;
  const others = await acting.store.operators(() => {});
  const by = takenBy(name, others) ?? takenBy(displayName, others);
  if (by !== null) return { type: "taken", by };
  if (channels !== null) {
    const unreadable: string[] = [];
    const known = await acting.store.channels(({ slug }) => unreadable.push(slug));
    const slugs = new Set([...known.map(({ slug }) => slug), ...unreadable]);
    const slug = channels.find((one) => !slugs.has(one));
    if (slug !== undefined) return { type: "unknown-channel", slug };
  }
  const key = newOperatorKey();
  await note(acting, { action: "operators.add", target: name, slug: null, detail: { role, channels } });
  const isAdded = await acting.store.addOperator({ ...operator, keyHash: hashKey(key) });
  return isAdded ? { type: "added", key } : { type: "taken", by: name };
}

/** False: no operator has that name. */
export async function removeOperator(acting: Changing, name: string): Promise<boolean> {
  if ((await existingOperator(acting, name)) === null) return false;
  await note(acting, { action: "operators.remove", target: name, slug: null });
  return acting.store.removeOperator(name);
}

/** Replaces the key: the old one and all sessions end at once. Null: no operator has that name. */
export async function rotateOperator(
  acting: Changing,
  name: string,
): Promise<{ operator: Operator; key: Secret } | null> {
  if ((await existingOperator(acting, name)) === null) return null;
  const key = newOperatorKey();
  await note(acting, { action: "operators.rotate", target: name, slug: null });
  const operator = await changeOperator(
    acting.store,
    (one) => one.name === name,
    (one) => {
      const sessions = one.signIn ? { signIn: { ...one.signIn, sessions: [] } } : {};
      return { ...one, keyHash: hashKey(key), ...sessions };
    },
  );
  return operator && { operator, key };
}

/** Who has this name, or one that looks like it; null: nobody. */
export function takenBy(name: string, operators: readonly Operator[]): string | null {
  const hasIt = ({ name: own, displayName = own }: Operator) =>
    isSameName(own, name) || isSameName(displayName, name);
  return operators.find(hasIt)?.name ?? null;
}

/** What is changed of an operator; null takes it away. A display name counts from the next taking of a thread on. */
export interface OperatorChange {
  displayName?: string | null;
  picture?: string | null;
  queues?: string[] | null;
}

/** `taken`: another operator has that display name, or one that looks like it. Null: no operator has the name `name`. */
export async function describeOperator(
  acting: Changing,
  name: string,
  change: OperatorChange,
): Promise<{ type: "changed"; operator: Operator } | { type: "taken"; by: string } | null> {
  if ((await existingOperator(acting, name)) === null) return null;
  const others = (await acting.store.operators(() => {})).filter((one) => one.name !== name);
  const by = change.displayName == null ? null : takenBy(change.displayName, others);
  if (by !== null) return { type: "taken", by };
  await note(acting, { action: "operators.change", target: name, slug: null });
  const operator = await changeOperator(
    acting.store,
    (one) => one.name === name,
    ({ displayName, picture, queues, ...one }) => {
      const shown = Object.entries({ displayName, picture, queues, ...change });
      return { ...one, ...Object.fromEntries(shown.filter(([, value]) => value != null)) };
    },
  );
  return operator && { type: "changed", operator };
}

async function existingOperator({ store }: Changing, name: string): Promise<Operator | null> {
  return (await store.operators(() => {})).find((one) => one.name === name) ?? null;
}

/** Without the hash of its key. */
export function operatorView({
  name,
  displayName,
  picture,
  queues,
  role,
  channels,
}: Operator): Pick<Operator, "name" | "displayName" | "picture" | "queues" | "role" | "channels"> {
  return {
    name,
    ...(displayName === undefined ? {} : { displayName }),
    ...(picture === undefined ? {} : { picture }),
    ...(queues === undefined ? {} : { queues }),
    role,
    channels,
  };
}
