import { isRecord } from "../../is-record.ts";
import type { Platform } from "../platform.ts";
import { asAdapter, faultOfAdapter, fieldsOf } from "../platform.ts";
import { words } from "./asked.ts";

const API = "https://api.telegram.org";
/** Of 4,096: what is written in Telegram's Markdown has a backslash before each of these. */
const ESCAPED = /[_*[\]()~`>#+\-=|{}.!\\]/g;

/** The Bot API. A post has no key of its own, and a bot cannot read a chat. */
export const telegram: Platform = {
  type: "telegram",
  packageName: "@chat-adapter/telegram",

  async load(settings, logger) {
    const { createTelegramAdapter } = await import("@chat-adapter/telegram");
    // Its own way to ask for messages would take them from the webhook.
    return asAdapter(createTelegramAdapter({ ...settings, mode: "webhook", logger }));
  },

  mostChars: 4_000,
  lengthOf: (text) => text.length + (text.match(ESCAPED)?.length ?? 0),
  // A chat takes about a message in a second, and a group 20 in a minute.
  editMs: (isDirect) => (isDirect ? 1_100 : 3_100),
  typingMs: 4_500,
  readBack: null,

  faultOf(error) {
    const { code, message } = fieldsOf(error);
    if (code === "VALIDATION_ERROR") {
      const text = String(message);
      if (text.includes("message is not modified")) return { type: "same" };
      if (/message to edit not found|message can't be edited|MESSAGE_ID_INVALID/.test(text))
        return { type: "gone" };
      return { type: "refused", why: text };
    }
    return faultOfAdapter(error);
  },

  async check({ settings, webhookUrl, ask }) {
    const base = `${settings["apiUrl"] ?? API}/bot${settings["botToken"]}`;
    const me = await ask(`${base}/getMe`);
    if ("problem" in me) return [`Telegram cannot be reached: ${me.problem}`];
    if (me.status === 401 || me.status === 404)
      return ["Telegram does not know the botToken: copy it again from @BotFather"];
    if (me.status !== 200) return [`Telegram answered getMe with ${me.status}: ${words(me.body)}`];
    const asked = await ask(`${base}/getWebhookInfo`);
    if ("problem" in asked) return [`Telegram cannot be reached: ${asked.problem}`];
    const info = isRecord(asked.body) && isRecord(asked.body["result"]) ? asked.body["result"] : {};
    const problems: string[] = [];
    const url = typeof info["url"] === "string" ? info["url"] : "";
    const isOurs = webhookUrl === null ? url.includes("/v1/messengers/") : url === webhookUrl;
    if (url === "")
      problems.push(
        `Telegram sends nothing yet: call setWebhook with ${webhookUrl ?? "the webhook's address"}`,
      );
    else if (!isOurs)
      problems.push(
        `Telegram sends to ${url}, and not to ${webhookUrl ?? "/v1/messengers/SLUG"}: call setWebhook`,
      );
    if (typeof info["last_error_message"] === "string")
      problems.push(
        `Telegram could not deliver: ${info["last_error_message"]}${/401/.test(info["last_error_message"]) ? "; secret_token of setWebhook is not secretToken" : ""}`,
      );
    const pending = Number(info["pending_update_count"] ?? 0);
    if (pending > 100) problems.push(`${pending} messages wait at Telegram`);
    return problems;
  },
};
