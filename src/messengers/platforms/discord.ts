import { isRecord } from "../../is-record.ts";
import type { Fault, Platform } from "../platform.ts";
import { asAdapter, faultOfAdapter, faultOfStatus, fieldsOf } from "../platform.ts";
import { words } from "./asked.ts";

const API = "https://discord.com/api/v10";
const UNKNOWN_MESSAGE = 10_008;
const MESSAGE_CONTENT = (1 << 18) | (1 << 19);

/** Discord's REST API; what users say comes over its Gateway (README). A bot reads the channels that it is in. */
export const discord: Platform = {
  type: "discord",
  packageName: "@chat-adapter/discord",

  async load(settings, logger) {
    const { createDiscordAdapter } = await import("@chat-adapter/discord");
    return asAdapter(createDiscordAdapter({ ...settings, logger }));
  },

  // Of 2,000: the adapter cuts what is longer.
  mostChars: 1_900,
  lengthOf: (text) => text.length,
  // Five in five seconds, posts and edits together.
  editMs: () => 1_500,
  typingMs: 8_000,
  readBack: async (adapter, threadId, limit) => (await adapter.fetchMessages(threadId, { limit })).messages,

  faultOf(error): Fault {
    const { originalError } = fieldsOf(error);
    const { status, code, message } = fieldsOf(originalError);
    if (typeof status !== "number") return faultOfAdapter(error);
    if (code === UNKNOWN_MESSAGE) return { type: "gone" };
    return faultOfStatus(status, retryAfterMs(String(message)));
  },

  async check({ settings, ask }) {
    const base = settings["apiUrl"] ?? API;
    const headers = { authorization: `Bot ${settings["botToken"]}` };
    const asked = await ask(`${base}/applications/@me`, { headers });
    if ("problem" in asked) return [`Discord cannot be reached: ${asked.problem}`];
    if (asked.status === 401)
      return ["Discord does not take the botToken: reset it on the page Bot, and paste it"];
    if (asked.status !== 200 || !isRecord(asked.body))
      return [`Discord answered with ${asked.status}: ${words(asked.body)}`];
    const { id, verify_key: key, flags } = asked.body;
    const problems: string[] = [];
    if (id !== settings["applicationId"])
      problems.push("The botToken is of another application than applicationId");
    if (key !== settings["publicKey"]) problems.push("The publicKey is not this application's");
    if (typeof flags === "number" && (flags & MESSAGE_CONTENT) === 0)
      problems.push("The bot gets no texts: switch Message Content Intent on, on the page Bot");
    return problems;
  },
};

function retryAfterMs(body: string): number | null {
  try {
    const { retry_after: seconds } = JSON.parse(body) as { retry_after?: unknown };
    return typeof seconds === "number" ? Math.ceil(seconds * 1_000) : null;
  } catch {
    return null;
  }
}
