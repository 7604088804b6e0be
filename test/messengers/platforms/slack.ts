import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { answerJson, bodyOf, Chats, platformOver } from "../scripted-platform.ts";
import type { SaidThere, ScriptedPlatform } from "../scripted-platform.ts";

const TOKEN = "xoxb-token-of-the-test";
const SIGNING = "signing-secret-of-the-test";
const BOT = { user_id: "UBOT", bot_id: "BBOT" };

/** Slack's Web API and Events API, as docs.slack.dev describes them. A chat is a direct channel, `D77`, or a channel, `C77`. */
export async function startSlack(): Promise<ScriptedPlatform> {
  const beganAt = Date.now();
  const chats = new Chats();
  const files = new Map<string, Buffer>();
  const origin = await openHttpServer((request, response) => {
    void answer(request, response);
  });
  const sentAt = new Map<string, number>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const body = await bodyOf(request);
    const done = (result: object) =>
      answerJson(response, 200, { ok: true, ...result }, { "x-oauth-scopes": SCOPES });
    const fail = (error: string) => answerJson(response, 200, { ok: false, error });
    if (request.headers.authorization !== `Bearer ${TOKEN}` && !body.includes(TOKEN))
      return fail("invalid_auth");
    if (path.startsWith("/files/"))
      return void response.writeHead(200, { "content-type": "image/png" }).end(files.get(path));
    const asked = Object.fromEntries(new URLSearchParams(body));
    const method = path.replace(/^\/api\//, "").replace(/\?.*$/, "");
    const chat = asked["channel"] ?? "";
    switch (method) {
      case "auth.test":
        return done({ ...BOT, user: "bot", team: "T" });
      case "users.info":
        return done({ user: { id: asked["user"], name: "user", real_name: `User ${asked["user"]}` } });
      case "conversations.info":
        return done({ channel: { id: chat, is_im: chat.startsWith("D") } });
      case "assistant.threads.setStatus":
        chats.type();
        return done({});
      case "conversations.history":
      case "conversations.replies": {
        const messages = chats.shown(chat).map(({ id, text }) => ({
          type: "message",
          ts: id,
          text,
          user: BOT.user_id,
          bot_id: BOT.bot_id,
          channel: chat,
        }));
        return done({ messages: method === "conversations.history" ? messages.toReversed() : messages });
      }
      case "chat.postMessage":
      case "chat.update": {
        const trouble = chats.nextTrouble();
        if (trouble?.type === "slow-down")
          return answerJson(
            response,
            429,
            { ok: false, error: "ratelimited" },
            { "retry-after": String(trouble.seconds) },
          );
        if (trouble?.type === "status") return answerJson(response, trouble.status, {});
        const text = asked["markdown_text"] ?? asked["text"] ?? "";
        if (text.length > 12_000) return fail("msg_too_long");
        if (method === "chat.update") {
          const edited = chats.edit(chat, asked["ts"] ?? "", text);
          return edited === "gone"
            ? fail("message_not_found")
            : done({ ts: asked["ts"], channel: chat, text });
        }
        const ts = tsOf(chats.nextId());
        chats.post(chat, {
          id: ts,
          text,
          edits: 0,
          form: "markdown_text" in asked ? "markdown_text" : "text",
        });
        sentAt.set(ts, Date.now());
        if (trouble?.type === "lost-answer") return void response.destroy();
        return done({ ts, channel: chat, message: { text, ts } });
      }
      default:
        chats.faults.push(method);
        return fail("unknown_method");
    }
  }

  function request({ chat, user, text, nth, group = false, mention = false, image }: SaidThere) {
    // A repeat has the same.
    const ts = tsOf(nth, beganAt);
    const said = mention ? `<@${BOT.user_id}> ${text}` : text;
    const event = {
      type: mention ? "app_mention" : "message",
      user: `U${user}`,
      text: said,
      ts,
      channel: chat,
      channel_type: group ? "channel" : "im",
      team: "T",
      ...(image ? { files: [fileOf(image)], subtype: "file_share" } : {}),
    };
    const body = JSON.stringify({ type: "event_callback", team_id: "T", event_id: `Ev${nth}`, event });
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = `v0=${createHmac("sha256", SIGNING).update(`v0:${at}:${body}`).digest("hex")}`;
    return {
      headers: {
        "content-type": "application/json",
        "x-slack-request-timestamp": at,
        "x-slack-signature": signature,
      },
      body,
    };
  }

  function fileOf(image: Buffer) {
    const path = `/files/${files.size}.png`;
    files.set(path, image);
    const url = `${origin}${path}`;
    return {
      id: `F${files.size}`,
      mimetype: "image/png",
      name: "a.png",
      size: image.length,
      url_private: url,
    };
  }

  return {
    messenger: {
      type: "slack",
      settings: { botToken: TOKEN, signingSecret: SIGNING, apiUrl: `${origin}/api/` },
    },
    ...platformOver(chats, request),
  };
}

const SCOPES = "chat:write,im:history,app_mentions:read,users:read";

/** Slack's ids are times. */
function tsOf(nth: number, atMs = Date.now()): string {
  return `${Math.floor(atMs / 1_000)}.${String(nth).padStart(6, "0")}`;
}
