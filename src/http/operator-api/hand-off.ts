import { z } from "zod";
import type { Operator } from "../../domain/people/operator.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import {
  assignThread,
  decideCall,
  handThreadBack,
  sayInThread,
  takeThread,
} from "../../operators/threads/hand-off.ts";
import { endpoint } from "../endpoint.ts";
import {
  clientMessageId,
  decisionBody,
  EXAMPLE_DECISION,
  handOffQueue,
  messageText,
  mustAllowHandOff,
  NOT_WAITING,
} from "../fields.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { existingChannel } from "./admit.ts";
import type { OperatorApi } from "./operator-api.ts";

const epoch = z.int().min(0).describe("The thread's epoch as it was seen: who answers has not changed since");
const epochSchema = z.object({ epoch });
const noteSchema = epochSchema.extend({
  note: z.string().max(4_000).optional().describe("For the assistant, who is told with the next message"),
});
const messageSchema = epochSchema.extend({
  text: messageText,
  clientMessageId: clientMessageId
    .optional()
    .describe("A repeat with the same text is answered as the first one; another text is 422"),
});

const assignSchema = z
  .object({
    operator: z.string().min(1).max(64).optional().describe("Who has the thread from then on"),
    queue: handOffQueue.describe("Of the channel's `handoff.queues`: the thread waits in it"),
    epoch,
  })
  .refine(({ operator, queue }) => (operator === undefined) !== (queue === undefined), "operator or queue");

const EPOCH = documentedJson("The epoch from now on", epochSchema, { epoch: 3 });

const ACT = {
  method: "POST",
  credential: "operatorKey",
  roles: ["admin", "agent"],
  finds: "thread",
  refusals: {
    conflict:
      "Another epoch, nothing has changed; or the operator has not taken the thread; or the channel has no hand-off",
  },
} as const;

const answeringSchema = z.object({
  name: z.string(),
  displayName: z.string().exactOptional().describe("What visitors call the person"),
});

/** GET /v1/operator/channels/:slug/operators; POST …/threads/:id/take, …/assign, …/messages, …/typing, …/return, …/close, …/approvals. */
export function handOffEndpoints({ store, threads }: Pick<OperatorApi, "store" | "threads">) {
  const { people } = threads;
  /** The operators who may answer in a channel, by name. */
  async function answering(slug: string): Promise<Pick<Operator, "name" | "displayName">[]> {
    const all = await store.operators(() => {});
    const may = all.filter((one) => one.role !== "auditor" && seesChannel(one, slug));
    return may
      .map(({ name, displayName }) => ({ name, ...(displayName === undefined ? {} : { displayName }) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/operators",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      finds: "channel",
      summary: "List who may answer in a channel",
      description: "By name: to whom a thread can be assigned.",
      answers: {
        200: documentedJson("The operators", z.object({ items: z.array(answeringSchema) }), {
          items: [{ name: "ada" }],
        }),
      },
      handle: async ({ channel: { slug } }) => jsonAnswer(200, { items: await answering(slug) }),
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/take",
      summary: "Take a thread",
      description:
        "From any state: a run that goes on ends with what it has said, and no word of the model comes after. In the audit.",
      body: { schema: epochSchema, example: { epoch: 1 } },
      answers: { 200: EPOCH },
      async handle({ acting, caller, thread, body }) {
        mustAllowHandOff(await existingChannel(store, thread.slug));
        const taken = { ...thread, ...body, shownAs: caller.displayName };
        return jsonAnswer(200, { epoch: await takeThread(acting, people, taken) });
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/assign",
      summary: "Hand a thread to a colleague or a queue",
      description:
        "To an operator: as if they had taken it. To a queue: only a thread that waits for a person, or has one; it waits anew. In the audit.",
      body: { schema: assignSchema, example: { queue: "returns", epoch: 2 } },
      answers: { 200: EPOCH },
      async handle({ acting, thread, body: { operator, queue, epoch } }) {
        mustAllowHandOff(await existingChannel(store, thread.slug), queue);
        const known = (await answering(thread.slug)).find(({ name }) => name === operator);
        if (operator !== undefined && !known)
          throw new Refusal("invalid", "operator: nobody of that name may answer in this channel");
        const to = known ? { operator: known.name, shownAs: known.displayName } : { queue: queue ?? "" };
        return jsonAnswer(200, { epoch: await assignThread(acting, people, { ...thread, epoch, to }) });
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/messages",
      summary: "Write in a thread that you have taken",
      description: "The visitor reads it under the operator's name. In the audit, without the text.",
      body: { schema: messageSchema, example: { text: "How can I help?", epoch: 2 } },
      answers: { 201: documentedJson("The item's id", z.object({ id: z.string() }), { id: "4" }) },
      async handle({ acting, thread, body: { clientMessageId: own = null, ...body } }) {
        const id = await sayInThread(acting, people, { ...thread, ...body, clientMessageId: own });
        return jsonAnswer(201, { id });
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/typing",
      summary: "Say that you are writing",
      description: "Told to all who follow the thread; counts for six seconds. No body.",
      answers: { 204: "It was told" },
      async handle({ caller: { name }, thread: { uid } }) {
        await people.type({ uid, name });
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/return",
      summary: "Give a thread back to the assistant",
      description:
        "The next message is the assistant's, who is told what was said and the note. In the audit.",
      body: { schema: noteSchema, example: { epoch: 2, note: "Refunded; ask whether all is well" } },
      answers: { 200: EPOCH },
      async handle({ acting, thread, body: { note = null, ...body } }) {
        const given = { ...thread, ...body, how: "returned" as const, note };
        return jsonAnswer(200, { epoch: await handThreadBack(acting, people, given) });
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/close",
      summary: "End your part of a thread",
      description: "As giving it back, without a note. In the audit.",
      body: { schema: epochSchema, example: { epoch: 2 } },
      answers: { 200: EPOCH },
      async handle({ acting, thread, body }) {
        const given = { ...thread, ...body, how: "closed" as const, note: null };
        return jsonAnswer(200, { epoch: await handThreadBack(acting, people, given) });
      },
    }),

    endpoint({
      ...ACT,
      path: "/v1/operator/channels/:slug/threads/:id/approvals",
      summary: "Approve a call that waits for an operator, or decline it",
      description:
        "Of a channel whose `agent.tools.by` is `operator`. The assistant goes on, and is told. In the audit.",
      body: { schema: decisionBody, example: EXAMPLE_DECISION },
      answers: { 204: "The decision is stored" },
      refusals: NOT_WAITING,
      async handle({ acting, thread, body }) {
        await decideCall(acting, threads, { ...thread, ...body });
        return emptyAnswer(204);
      },
    }),
  ];
}
