import type { Acted, People } from "../../threads/handoff/people.ts";
import type { Decided } from "../../threads/say/approve.ts";
import type { Threads } from "../../threads/threads.ts";
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

/** Of a call that waits for an operator: whether it may be made. */
export async function decideCall(
  acting: Acting<unknown>,
  threads: Pick<Threads, "approve">,
  { uid, slug, callId, approved }: Omit<Decided, "by">,
): Promise<void> {
  await note(acting, { action: "call.decide", target: uid, slug, detail: { callId, approved } });
  await threads.approve({ uid, slug, callId, approved, by: "operator" });
}

function noteAct(acting: Acting<unknown>, action: string, { uid, slug, epoch }: On): Promise<void> {
  return note(acting, { action, target: uid, slug, detail: { epoch } });
}
