import type { Acted, People } from "../../threads/handoff/people.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";

/** Operators' actions in a thread that they take over: each is in the audit, without texts of the conversation. */
type On = Pick<Acted, "uid" | "slug" | "epoch">;

export async function takeThread(
  acting: Acting<unknown>,
  people: People,
  on: On & { shownAs?: string | undefined },
): Promise<number> {
  await noteAct(acting, "handoff.take", on);
  return people.take({ ...on, name: acting.operator });
}

/** To an operator, who then has the thread, or to a queue, in which it waits. */
export async function assignThread(
  acting: Acting<unknown>,
  people: People,
  { to, ...on }: On & { to: { operator: string; shownAs?: string | undefined } | { queue: string } },
): Promise<number> {
  await note(acting, {
    action: "handoff.assign",
    target: on.uid,
    slug: on.slug,
    detail: { epoch: on.epoch, ...("operator" in to ? { operator: to.operator } : to) },
  });
  if ("operator" in to) {
    const { operator: name, shownAs } = to;
    return people.take({ ...on, name, shownAs });
  }
  return people.queue({ ...on, name: acting.operator, queue: to.queue });
}

export async function sayInThread(
  acting: Acting<unknown>,
  people: People,
  { text, clientMessageId, ...on }: On & { text: string; clientMessageId: string | null },
): Promise<string> {
  await noteAct(acting, "handoff.message", on);
  return people.say({ ...on, name: acting.operator, text, clientMessageId });
}

export async function handThreadBack(
  acting: Acting<unknown>,
  people: People,
  { how, note: words, ...on }: On & { how: "returned" | "closed"; note: string | null },
): Promise<number> {
  await noteAct(acting, how === "closed" ? "handoff.close" : "handoff.return", on);
  return people.handBack({ ...on, name: acting.operator, how, note: words });
}

function noteAct(acting: Acting<unknown>, action: string, { uid, slug, epoch }: On): Promise<void> {
  return note(acting, { action, target: uid, slug, detail: { epoch } });
}
