import type { Hours } from "../../domain/channels/hours.ts";
import type {
  ToolSettings,
  AccessMode,
  AgentSettings,
  HistorySettings,
  Channel,
  McpHttpServer,
  McpProcessServer,
  RetentionField,
  ServiceOAuth,
  VisitorOAuth,
} from "../../domain/channels/channel.ts";
import type { HandoffField } from "../../domain/threads/hand-off.ts";
import type { MessengerField, MessengerType } from "../../domain/channels/messenger.ts";
import type { KnowledgeField, KnowledgeSource } from "../../domain/channels/knowledge.ts";
import type { OlderKeys } from "../../domain/channels/older-keys.ts";
import type { OlderSecret, WebhookEvent, WebhookField } from "../../domain/channels/webhook.ts";
import {
  defaulted,
  either,
  isFlag,
  isNumber,
  isObject,
  isText,
  kindOf,
  listOf,
  literal,
  mapOf,
  nullable,
  oneOf,
  optional,
  shape,
} from "../checks.ts";
import type { RecordStep } from "../checks.ts";

/** What a channel must be when it is read back; both stores keep it as JSON. */

const isMcpTools = optional(
  shape<NonNullable<McpHttpServer["tools"]>>({
    allow: optional(listOf(isText)),
    deny: optional(listOf(isText)),
  }),
);
const isMcpTimeouts = optional(
  shape<NonNullable<McpHttpServer["timeouts"]>>({
    connectSeconds: optional(isNumber),
    callSeconds: optional(isNumber),
  }),
);

const isMcpServer = either(
  shape<McpHttpServer>({
    url: isText,
    headers: optional(mapOf(isText)),
    identity: optional(shape<NonNullable<McpHttpServer["identity"]>>({ key: isText })),
    oauth: optional(
      either(
        shape<Omit<ServiceOAuth, "perUser">>({
          clientId: isText,
          clientSecret: isText,
          issuer: isText,
          scope: optional(isText),
        }),
        shape<VisitorOAuth>({
          perUser: literal(true),
          clientId: optional(isText),
          clientSecret: optional(isText),
          issuer: optional(isText),
          scope: optional(isText),
        }),
      ),
    ),
    tools: isMcpTools,
    timeouts: isMcpTimeouts,
  }),
  shape<McpProcessServer>({
    command: isText,
    args: optional(listOf(isText)),
    env: optional(mapOf(isText)),
    tools: isMcpTools,
    timeouts: isMcpTimeouts,
  }),
);

const isWebhookEvent = oneOf<WebhookEvent>({
  "message.created": true,
  "run.ended": true,
  "handoff.requested": true,
  "handoff.taken": true,
  "handoff.returned": true,
  "handoff.missed": true,
  "handoff.rated": true,
  "reply.unread": true,
  "note.created": true,
  "user.identified": true,
  "user.deleted": true,
  "thread.deleted": true,
  "feedback.given": true,
});

export const isAccessMode = oneOf<AccessMode>({ open: true, whitelist: true });

export const isChannel = shape<Channel>({
  slug: isText,
  kind: oneOf<Channel["kind"]>({ web: true, transport: true }),
  publishableKey: nullable(isText),
  secretKeyHash: nullable(isText),
  olderKeys: optional(
    listOf(
      shape<OlderKeys>({
        publishableKey: nullable(isText),
        secretKeyHash: nullable(isText),
        untilMs: isNumber,
      }),
    ),
  ),
  retiredKeys: optional(listOf(isText)),
  allowedOrigins: listOf(isText),
  enabled: isFlag,
  accessMode: isAccessMode,
  agent: defaulted(
    shape<AgentSettings>({
      instructions: optional(isText),
      model: optional(isText),
      temperature: optional(isNumber),
      reasoningEffort: optional(isText),
      body: optional(isObject),
      images: optional(isFlag),
      files: optional(isFlag),
      imageAddresses: optional(isFlag),
      whileRunning: optional(
        oneOf<NonNullable<AgentSettings["whileRunning"]>>({ queue: true, steer: true, interrupt: true }),
      ),
      tools: optional(
        shape<ToolSettings>({
          confirm: listOf(isText),
          by: optional(oneOf<NonNullable<ToolSettings["by"]>>({ visitor: true, operator: true })),
        }),
      ),
      mcpServers: optional(mapOf(isMcpServer)),
      history: optional(
        shape<HistorySettings>({
          maxChars: optional(isNumber),
          summary: optional(isFlag),
          summaryModel: optional(isText),
        }),
      ),
      maxOutputTokensPerRun: optional(isNumber),
      maxTokensPerUserPerDay: optional(isNumber),
      maxTokensPerDay: optional(isNumber),
    }),
    () => ({}),
  ),
  handoff: optional(
    shape<HandoffField>({
      enabled: isFlag,
      waitSeconds: optional(isNumber),
      message: optional(isText),
      unavailable: optional(isText),
      answerSeconds: optional(isNumber),
      unanswered: optional(isText),
      rating: optional(isFlag),
      replies: optional(listOf(isText)),
      hours: optional(
        shape<Hours>({
          timeZone: isText,
          week: shape<Hours["week"]>({
            sun: optional(listOf(isText)),
            mon: optional(listOf(isText)),
            tue: optional(listOf(isText)),
            wed: optional(listOf(isText)),
            thu: optional(listOf(isText)),
            fri: optional(listOf(isText)),
            sat: optional(listOf(isText)),
          }),
          holidays: optional(listOf(isText)),
        }),
      ),
      queues: optional(listOf(isText)),
    }),
  ),
  webhooks: optional(
    listOf(
      shape<WebhookField>({
        url: isText,
        secret: isText,
        events: optional(listOf(isWebhookEvent)),
        unreadMinutes: optional(isNumber),
        olderSecrets: optional(listOf(shape<OlderSecret>({ secret: isText, untilMs: isNumber }))),
      }),
    ),
  ),
  messenger: optional(
    shape<MessengerField>({
      type: oneOf<MessengerType>({ telegram: true, slack: true, whatsapp: true, discord: true, teams: true }),
      settings: mapOf(isText),
    }),
  ),
  retention: optional(
    shape<RetentionField>({ threadsDays: optional(isNumber), anonymousDays: optional(isNumber) }),
  ),
  knowledge: optional(
    shape<KnowledgeField>({
      sources: listOf(
        shape<KnowledgeSource>({
          name: isText,
          url: optional(isText),
          sitemap: optional(isText),
          folder: optional(isText),
          file: optional(isText),
          every: optional(isText),
          depth: optional(isNumber),
          include: optional(listOf(isText)),
          exclude: optional(listOf(isText)),
        }),
      ),
      embeddings: optional(isText),
      passages: optional(isNumber),
      only: optional(isFlag),
      index: optional(literal("lancedb" as const)),
    }),
  ),
});

/**
 * Version 2: visitors may sign in to a channel's MCP servers, and a channel may have documents. One without either can still be
 * written as version 1.
 */
const withVisitorOAuth: RecordStep = {
  up: (older) => older,
  down: (newer) => (hasVisitorOAuth(newer["agent"]) || newer["knowledge"] !== undefined ? null : newer),
};

function hasVisitorOAuth(agent: unknown): boolean {
  const servers = isObject(agent) && isObject(agent["mcpServers"]) ? Object.values(agent["mcpServers"]) : [];
  return servers.some((one) => isObject(one) && isObject(one["oauth"]) && one["oauth"]["perUser"] === true);
}

export const channelKind = kindOf("channel", isChannel, [withVisitorOAuth]);
export const readChannel = channelKind.read;
