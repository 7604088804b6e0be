import { z } from "zod";
import type { WebhookField } from "./webhook.ts";

/** Platforms whose users talk on a transport channel. */
export const MESSENGER_TYPES = ["telegram", "slack", "whatsapp", "discord", "teams"] as const;

export type MessengerType = (typeof MESSENGER_TYPES)[number];

/** A channel's account at a platform. */
export interface MessengerField {
  type: MessengerType;
  /** As the platform's adapter names them; a value may be `$NAME` of a variable. */
  settings: Record<string, string>;
}

interface SettingNames {
  required: readonly string[];
  optional?: readonly string[];
  /** Shown to operators; all others are secrets. */
  plain: readonly string[];
}

/** The settings of each platform, by the names that its adapter has for them. */
export const MESSENGER_SETTINGS: Readonly<Record<MessengerType, SettingNames>> = {
  telegram: { required: ["botToken", "secretToken"], optional: ["userName"], plain: ["userName"] },
  slack: { required: ["botToken", "signingSecret"], plain: [] },
  whatsapp: {
    required: ["accessToken", "appSecret", "phoneNumberId", "verifyToken"],
    optional: ["apiVersion"],
    plain: ["phoneNumberId", "apiVersion"],
  },
  discord: { required: ["botToken", "publicKey", "applicationId"], plain: ["publicKey", "applicationId"] },
  teams: {
    required: ["appId", "appPassword"],
    optional: ["appTenantId", "appType"],
    plain: ["appId", "appTenantId", "appType"],
  },
};

/**
 * The address of the platform's API, if it is not the usual one. It gets the account's tokens, so only CHANNELS_FILE may
 * name it.
 */
export const API_URL = "apiUrl";

const LONGEST = 8_192;

export const messengerSchema = z
  .strictObject({
    type: z.enum(MESSENGER_TYPES, { error: `must be one of ${MESSENGER_TYPES.join(", ")}` }),
    settings: z.record(z.string().max(64), z.string().min(1).max(LONGEST)),
  })
  .superRefine(({ type, settings }, context) => {
    const { required, optional = [] } = MESSENGER_SETTINGS[type];
    const known = [...required, ...optional, API_URL];
    const unknown = Object.keys(settings).filter((name) => !known.includes(name));
    if (unknown.length > 0) {
      context.addIssue(`${type} has no setting ${unknown.join(", ")}: it has ${known.join(", ")}`);
    }
    const missing = required.filter((name) => !Object.hasOwn(settings, name));
    if (missing.length > 0) context.addIssue(`${type} needs the settings ${missing.join(", ")}`);
  });

/** Is the value of this setting a secret? */
export function isSecretSetting({ type }: Pick<MessengerField, "type">, name: string): boolean {
  return name !== API_URL && !MESSENGER_SETTINGS[type].plain.includes(name);
}

/**
 * The messenger in the outbox: its queue is that of one more endpoint. The url is no address, so that no webhook can have
 * the same.
 */
export const MESSENGER_ENDPOINT: WebhookField = {
  url: "messenger:",
  secret: "",
  events: ["message.created"],
};

/** Who gets the events of a channel: its webhooks, and its messenger. */
export function receiversOf({
  webhooks = [],
  messenger,
}: {
  webhooks?: WebhookField[];
  messenger?: MessengerField;
}): WebhookField[] {
  return messenger === undefined ? webhooks : [...webhooks, MESSENGER_ENDPOINT];
}

export function isMessengerEndpoint({ url }: Pick<WebhookField, "url">): boolean {
  return url === MESSENGER_ENDPOINT.url;
}
