import type { Operator } from "../domain/operator.ts";
import { isSameName } from "../domain/operator-name.ts";
import { hashKey, newOperatorKey } from "../keys.ts";
import type { Secret } from "../secret.ts";
import type { OperatorStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";
import { changeOperator } from "./change-operator.ts";

type Changing = Acting<
  Pick<OperatorStore, "operators" | "addOperator" | "replaceOperator" | "removeOperator">
>;

/** The new operator's key, which is never shown again; null: the name is taken. */
export async function addOperator(
  acting: Changing,
  operator: Pick<Operator, "name" | "role" | "channels">,
): Promise<Secret | null> {
  const { name, role, channels } = operator;
  if (isNameTaken(name, await acting.store.operators(() => {}))) return null;
  const key = newOperatorKey();
  await note(acting, { action: "operators.add", target: name, slug: null, detail: { role, channels } });
  return (await acting.store.addOperator({ ...operator, keyHash: hashKey(key) })) ? key : null;
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

/** Has somebody this name, or one that looks like it? */
export function isNameTaken(name: string, operators: readonly Operator[]): boolean {
  return operators.some((operator) => isSameName(operator.name, name));
}

async function existingOperator({ store }: Changing, name: string): Promise<Operator | null> {
  return (await store.operators(() => {})).find((one) => one.name === name) ?? null;
}

/** Without the hash of its key. */
export function operatorView({
  name,
  role,
  channels,
}: Operator): Pick<Operator, "name" | "role" | "channels"> {
  return { name, role, channels };
}
