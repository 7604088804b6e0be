import { z } from "zod";
import type { Channel } from "../../domain/channels/channel.ts";
import type { KnowledgeSource } from "../../domain/channels/knowledge.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { SourceState } from "../../knowledge.ts";
import { note } from "../../operators/acting.ts";
import { sourceView } from "../../operators/channel-secrets.ts";
import type { Sight } from "../../operators/channel-secrets.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { changeChannel } from "./change-channel.ts";
import { sightOf } from "./channels.ts";
import { documentedList, listFields, listOfAll } from "./lists.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const sourceSchema = z.object({
  name: z.string(),
  url: z.string().optional(),
  sitemap: z.string().optional(),
  folder: z.string().optional(),
  file: z.string().optional(),
  every: z.string().optional(),
  depth: z.int().optional(),
  include: z.array(z.string()).optional(),
  exclude: z.array(z.string()).optional(),
  state: z.enum(["new", "reading", "read", "failed"]),
  pages: z.int(),
  passages: z.int(),
  readAt: z.int().nullable().describe("When it was last read to its end, Unix time in milliseconds"),
  dueAt: z.int().nullable().describe("When it is read next"),
  failed: z.int().describe("Pages that could not be read the last time"),
  failures: z.array(z.object({ url: z.string(), why: z.string() })).describe("The first of them, and why"),
  fault: z.string().nullable().describe("Why it could not be read to its end; what it had stays"),
});

const EXAMPLE: z.infer<typeof sourceSchema> = {
  name: "help",
  url: "https://shop.example/help/",
  every: "24h",
  state: "read",
  pages: 41,
  passages: 180,
  readAt: 1_800_000_000_000,
  dueAt: 1_800_086_400_000,
  failed: 1,
  failures: [{ url: "https://shop.example/help/old", why: "status 500" }],
  fault: null,
};

const foundSchema = z.object({
  items: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      text: z.string(),
      score: z.number().describe("The higher the better; comparable within one answer alone"),
    }),
  ),
});

/** The fields are checked as those of a channel are: what is wrong with one is said. */
const newSource = z.looseObject({
  name: z.string(),
  url: z.string().optional().describe("A page, and what it leads to; or one of the next three"),
  sitemap: z.string().optional(),
  folder: z.string().optional(),
  file: z.string().optional(),
  every: z.string().optional().describe("How often it is read: 30m, 24h, 7d"),
});

const MOST_FOUND = 50;
const LONGEST_QUERY = 4_000;

const namedSource = {
  name: { description: "The source's name", schema: z.string(), required: true, example: "help" },
};

/** GET, POST /v1/operator/channels/:slug/knowledge; GET, DELETE …/:name; POST …/sync, …/search. */
export function knowledgeEndpoints(
  api: Pick<OperatorApi, "store" | "directory" | "config" | "channelVariables" | "knowledge" | "clock">,
) {
  function opened(): NonNullable<OperatorApi["knowledge"]> {
    if (api.knowledge === null) throw new Refusal("unavailable", "This store keeps no documents");
    return api.knowledge;
  }

  async function stateOf(slug: string, name: string): Promise<SourceState> {
    const state = (await opened().sources(slug)).find(({ source }) => source.name === name);
    if (!state) throw new Refusal("not-found", "Unknown source");
    return state;
  }

  function mustHave(channel: Channel, name: string): KnowledgeSource {
    const source = channel.knowledge?.sources.find((one) => one.name === name);
    if (!source) throw new Refusal("not-found", "Unknown source");
    return source;
  }

  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/knowledge",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      summary: "List a channel's sources of documents",
      description: "When each was read, what it has, and what could not be read.",
      query: listFields("knowledge"),
      answers: { 200: documentedList("The sources", sourceSchema, EXAMPLE) },
      handle: async ({ caller, channel: { slug }, query }) =>
        listOfAll({ kind: "knowledge", ...query }, await opened().sources(slug), {
          placeOf: ({ source }) => source.name,
          viewOf: (state) => viewOf(state, sightOf(caller)),
        }),
    }),

    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/knowledge/:name",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      params: namedSource,
      summary: "Show a source of documents",
      description: "As in the list.",
      answers: { 200: documentedJson("The source", sourceSchema, EXAMPLE) },
      refusals: { "not-found": "Unknown channel, or it has no such source" },
      handle: async ({ caller, channel: { slug }, params: { name } }) =>
        jsonAnswer(200, viewOf(await stateOf(slug, name), sightOf(caller))),
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/knowledge",
      credential: "operatorKey",
      roles: ["admin"],
      summary: "Add a source of documents, or change the one of that name",
      description:
        "It is read soon. Only admins without channel limits (403) name new places; private addresses, and places on the disk, need KNOWLEDGE_PRIVATE.",
      body: {
        schema: newSource,
        example: { name: "help", url: "https://shop.example/help/", every: "24h" },
      },
      answers: { 201: documentedJson("The source", sourceSchema, { ...EXAMPLE, state: "new" }) },
      async handle({ caller, acting, params: { slug }, body: source }) {
        await changeChannel(api, { caller, acting, slug }, ({ knowledge }) => ({
          knowledge: {
            ...knowledge,
            sources: [...(knowledge?.sources ?? []).filter(({ name }) => name !== source.name), source],
          },
        }));
        return jsonAnswer(201, viewOf(await stateOf(slug, source.name), sightOf(caller)));
      },
    }),

    endpoint({
      method: "DELETE",
      path: "/v1/operator/channels/:slug/knowledge/:name",
      credential: "operatorKey",
      roles: ["admin"],
      params: namedSource,
      summary: "Remove a source of documents",
      description: "With all that was read of it.",
      answers: { 204: "Removed" },
      refusals: { "not-found": "Unknown channel, or it has no such source" },
      async handle({ caller, acting, params: { slug, name } }) {
        await changeChannel(api, { caller, acting, slug }, (stored) => {
          mustHave(stored, name);
          const { knowledge } = stored;
          const sources = (knowledge?.sources ?? []).filter((source) => source.name !== name);
          return { knowledge: { ...knowledge, sources } };
        });
        return emptyAnswer(204);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/knowledge/sync",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "channel",
      summary: "Read a channel's documents now",
      description:
        "By the instance that reads them, one source after the other; what has not changed is not read again. Without a name all sources are read.",
      body: {
        schema: z.strictObject({ name: z.string().max(64).optional() }),
        example: { name: "help" },
        optional: true,
      },
      answers: {
        202: documentedJson("What will be read", z.object({ items: z.array(sourceSchema) }), {
          items: [{ ...EXAMPLE, state: "reading" }],
        }),
      },
      refusals: { "not-found": "Unknown channel, or it has no such source" },
      async handle({ caller, acting, channel, body: { name } }) {
        const { slug, knowledge } = channel;
        const chosen = name === undefined ? (knowledge?.sources ?? []) : [mustHave(channel, name)];
        const names = chosen.map((source) => source.name);
        await note(acting, { action: "knowledge.sync", target: slug, slug, detail: { sources: names } });
        await opened().sync(slug, names);
        const states = (await opened().sources(slug)).filter(({ source }) => names.includes(source.name));
        return jsonAnswer(202, { items: states.map((state) => viewOf(state, sightOf(caller))) });
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/knowledge/search",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      finds: "channel",
      summary: "Try a question on a channel's documents",
      description: "The passages that a model would be given for it, the best first.",
      body: {
        schema: z.strictObject({
          query: z.string().max(LONGEST_QUERY),
          limit: z.int().min(1).max(MOST_FOUND).optional(),
        }),
        example: { query: "How long may I return a mug?" },
      },
      answers: {
        200: documentedJson("The passages", foundSchema, {
          items: [
            {
              title: "Returns",
              url: "https://shop.example/help/returns",
              text: "You may return a mug within 30 days.",
              score: 11.2,
            },
          ],
        }),
      },
      async handle({ channel: { slug }, body: { query, limit } }) {
        const found = await opened().search(slug, query, limit);
        return jsonAnswer(200, {
          items: found.map(({ title, url, text, score }) => ({ title, url, text, score })),
        });
      },
    }),
  ];
}

function viewOf({ source, ...state }: SourceState, sight: Sight): z.infer<typeof sourceSchema> {
  const { readAtMs, dueAtMs, ...rest } = state;
  return { ...sourceView(source, sight), ...rest, readAt: readAtMs, dueAt: dueAtMs };
}
