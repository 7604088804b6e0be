import { z } from "zod";
import { handThreadBack, sayInThread, takeThread } from "../../operators/hand-off.ts";
import { bodyOf } from "../body.ts";
import { clientMessageId, messageText, mustAllowHandOff } from "../fields.ts";
import { documentedEmpty, documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { existingChannel, existingThread } from "./existing.ts";
import { operatorRoute } from "./operator-route.ts";
import type { Asked, OperatorApi, OperatorEndpoint } from "./operator-route.ts";
import { threadParam } from "./threads.ts";

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

const EPOCH = documentedJson("The epoch from now on", epochSchema, { epoch: 3 });

const ACT = {
  method: "POST",
  roles: ["admin", "agent"],
  scope: "channels",
  params: threadParam,
  refusals: {
    "not-found": "Unknown channel or thread",
    conflict:
      "Another epoch, nothing has changed; or the operator has not taken the thread; or the channel has no hand-off",
  },
} as const satisfies Partial<OperatorEndpoint>;

/** POST /v1/operator/channels/:slug/threads/:id/take, …/messages, …/typing, …/return, …/close. */
export function handOffRoutes(api: OperatorApi): Route[] {
  const { store, config } = api;
  const { people } = api.threads;
  const path = (act: string) => `/channels/:slug/threads/:id/${act}`;

  async function threadOf({ param }: Asked): Promise<{ slug: string; uid: string }> {
    const slug = param("slug");
    const uid = await existingThread(store, slug, param("id"));
    return { slug, uid };
  }

  const bodyIn = <Body>({ incoming }: Asked, schema: z.ZodType<Body>) =>
    bodyOf(incoming.request, config.serverMaxBodyBytes, { schema });

  return [
    operatorRoute(api, {
      ...ACT,
      path: path("take"),
      summary: "Take a thread",
      description:
        "From any state: a run that goes on ends with what it has said, and no word of the model comes after. In the audit.",
      body: { schema: epochSchema, example: { epoch: 1 } },
      answers: { 200: EPOCH },
      async handle(asked) {
        const body = await bodyIn(asked, epochSchema);
        const thread = await threadOf(asked);
        mustAllowHandOff(await existingChannel(store, thread.slug));
        return jsonAnswer(200, { epoch: await takeThread(asked.acting, people, { ...thread, ...body }) });
      },
    }),

    operatorRoute(api, {
      ...ACT,
      path: path("messages"),
      summary: "Write in a thread that you have taken",
      description: "The visitor reads it under the operator's name. In the audit, without the text.",
      body: { schema: messageSchema, example: { text: "How can I help?", epoch: 2 } },
      answers: { 201: documentedJson("The item's id", z.object({ id: z.string() }), { id: "4" }) },
      async handle(asked) {
        const { clientMessageId: own = null, ...body } = await bodyIn(asked, messageSchema);
        const thread = await threadOf(asked);
        const id = await sayInThread(asked.acting, people, { ...thread, ...body, clientMessageId: own });
        return jsonAnswer(201, { id });
      },
    }),

    operatorRoute(api, {
      ...ACT,
      path: path("typing"),
      summary: "Say that you are writing",
      description: "Told to all who follow the thread; counts for six seconds. No body.",
      answers: { 204: documentedEmpty("It was told") },
      async handle(asked) {
        await asked.incoming.request.body(config.serverMaxBodyBytes);
        const { uid } = await threadOf(asked);
        await people.type({ uid, name: asked.operator.name });
        return emptyAnswer(204);
      },
    }),

    operatorRoute(api, {
      ...ACT,
      path: path("return"),
      summary: "Give a thread back to the assistant",
      description:
        "The next message is the assistant's, who is told what was said and the note. In the audit.",
      body: { schema: noteSchema, example: { epoch: 2, note: "Refunded; ask whether all is well" } },
      answers: { 200: EPOCH },
      async handle(asked) {
        const { note = null, ...body } = await bodyIn(asked, noteSchema);
        const thread = await threadOf(asked);
        const given = { ...thread, ...body, how: "returned" as const, note };
        return jsonAnswer(200, { epoch: await handThreadBack(asked.acting, people, given) });
      },
    }),

    operatorRoute(api, {
      ...ACT,
      path: path("close"),
      summary: "End your part of a thread",
      description: "As giving it back, without a note. In the audit.",
      body: { schema: epochSchema, example: { epoch: 2 } },
      answers: { 200: EPOCH },
      async handle(asked) {
        const body = await bodyIn(asked, epochSchema);
        const thread = await threadOf(asked);
        const given = { ...thread, ...body, how: "closed" as const, note: null };
        return jsonAnswer(200, { epoch: await handThreadBack(asked.acting, people, given) });
      },
    }),
  ];
}
