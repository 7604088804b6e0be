import { isRecord } from "../../is-record.ts";
import type { Platform } from "../platform.ts";
import { asAdapter, faultOfAdapter, fieldsOf } from "../platform.ts";

const API = "https://slack.com/api/";
const NEEDED = ["chat:write", "im:history", "app_mentions:read", "users:read"];

/** The Web API and the Events API. A post has no key, but a bot reads the chats that it is in. */
export const slack: Platform = {
  type: "slack",
  packageName: "@chat-adapter/slack",

  async load(settings, logger) {
    const { createSlackAdapter } = await import("@chat-adapter/slack");
    // Its client repeats a request whose answer was lost, ten times in half an hour: each would be one more message.
    const webClientOptions = { retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, timeout: 20_000 };
    return asAdapter(createSlackAdapter({ ...settings, webClientOptions, logger }));
  },

  // Of 12,000 for Markdown.
  mostChars: 10_000,
  lengthOf: (text) => text.length,
  // Fifty updates a minute.
  editMs: () => 1_500,
  typingMs: 30_000,

  async readBack(adapter, threadId, limit) {
    // A direct chat has no thread, and is read as a channel.
    const isDirect = adapter.isDM?.(threadId) ?? false;
    const read =
      isDirect && adapter.fetchChannelMessages
        ? adapter.fetchChannelMessages(adapter.channelIdFromThreadId(threadId), { limit })
        : adapter.fetchMessages(threadId, { limit });
    return (await read).messages;
  },

  faultOf(error) {
    const { code, data, retryAfter } = fieldsOf(error);
    if (code === "slack_webapi_rate_limited_error")
      return { type: "wait", ms: (typeof retryAfter === "number" ? retryAfter : 5) * 1_000 };
    if (code === "slack_webapi_request_error") return { type: "unknown" };
    if (code === "slack_webapi_http_error") return { type: "failed" };
    if (code !== "slack_webapi_platform_error") return faultOfAdapter(error);
    const name = isRecord(data) && typeof data["error"] === "string" ? data["error"] : "";
    if (name === "message_not_found" || name === "cant_update_message") return { type: "gone" };
    if (REFUSED.has(name)) return { type: "refused", why: `Slack says ${name}` };
    return { type: "failed" };
  },

  async check({ settings, ask }) {
    const headers = { authorization: `Bearer ${settings["botToken"]}` };
    const asked = await ask(`${settings["apiUrl"] ?? API}auth.test`, { method: "POST", headers });
    if ("problem" in asked) return [`Slack cannot be reached: ${asked.problem}`];
    const { body } = asked;
    if (!isRecord(body)) return [`Slack answered auth.test with ${asked.status}`];
    if (body["ok"] !== true)
      return [
        `Slack does not take the botToken (${String(body["error"])}): copy the Bot User OAuth Token again`,
      ];
    const scopes = asked.headers["x-oauth-scopes"];
    const missing =
      scopes === undefined
        ? []
        : NEEDED.filter((one) => !scopes.split(",").some((has) => has.trim() === one));
    return missing.length === 0
      ? []
      : [
          `The app lacks the scopes ${missing.join(", ")}: add them under OAuth & Permissions, and install it again`,
        ];
  },
};

/** Errors of chat.postMessage and chat.update that no repeat changes. */
const REFUSED: ReadonlySet<string> = new Set([
  "channel_not_found",
  "not_in_channel",
  "is_archived",
  "msg_too_long",
  "no_text",
  "restricted_action",
  "user_is_restricted",
  "messages_tab_disabled",
  "edit_window_closed",
]);
