import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { answerJson, bodyOf, Chats, platformOver } from "../scripted-platform.ts";
import type { SaidThere, ScriptedPlatform } from "../scripted-platform.ts";

const TOKEN = "4242:token-of-the-test";
const SECRET = "secret-token-of-the-test";
const BOT = { id: 4242, is_bot: true, first_name: "Bot", username: "shop_bot" };

/** The Bot API of Telegram, as core.telegram.org/bots/api describes it. */
export async function startTelegram(
  open: (answer: RequestListener) => Promise<string> = openHttpServer,
): Promise<ScriptedPlatform & { url: string; chats: Chats }> {
  const chats = new Chats();
  const files = new Map<string, Buffer>();
  const url = await open((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const path = request.url ?? "";
    const file = new RegExp(`^/file/bot${TOKEN}/(.*)$`).exec(path)?.[1];
    if (file !== undefined) return void response.writeHead(200).end(files.get(file));
    const method = new RegExp(`^/bot${TOKEN}/(\\w+)$`).exec(path)?.[1];
    const fail = (status: number, description: string, parameters?: object) =>
      answerJson(response, status, { ok: false, error_code: status, description, parameters });
    const done = (result: unknown) => answerJson(response, 200, { ok: true, result });
    if (method === undefined) return fail(401, "Unauthorized");
    const asked: Record<string, unknown> = body === "" ? {} : JSON.parse(body);
    const chat = textIn(asked, "chat_id");
    const messageOf = (id: number, text: string) => ({
      message_id: id,
      date: Math.floor(Date.now() / 1_000),
      chat: chatOf(chat),
      from: BOT,
      text,
    });
    switch (method) {
      case "getMe":
        return done(BOT);
      case "getWebhookInfo":
        return done({ url: "", pending_update_count: 0 });
      case "getFile":
        return done({ file_id: asked["file_id"], file_path: textIn(asked, "file_id") });
      case "sendChatAction":
        chats.type();
        return done(true);
      case "sendMessage":
      case "sendRichMessage":
      case "editMessageText": {
        const trouble = chats.nextTrouble();
        const retry = trouble?.type === "slow-down" ? trouble.seconds : 0;
        if (trouble?.type === "slow-down")
          return fail(429, `Too Many Requests: retry after ${retry}`, { retry_after: retry });
        if (trouble?.type === "status") return fail(trouble.status, "Trouble");
        const rich = asked["rich_message"] as { markdown?: string } | undefined;
        const text = rich?.markdown ?? plain(textIn(asked, "text"), asked["parse_mode"]);
        if (text === "") return fail(400, "Bad Request: message text is empty");
        if (rich === undefined && textIn(asked, "text").length > 4_096)
          return fail(400, "Bad Request: message is too long");
        if (method !== "editMessageText") {
          const id = chats.nextId();
          chats.post(chat, {
            id: String(id),
            text,
            edits: 0,
            form: rich ? "rich" : textIn(asked, "parse_mode"),
          });
          if (trouble?.type === "lost-answer") return void response.destroy();
          return done(messageOf(id, text));
        }
        const edited = chats.edit(chat, textIn(asked, "message_id"), text);
        if (edited === "gone") return fail(400, "Bad Request: message to edit not found");
        if (edited === "same")
          return fail(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
          );
        return done(messageOf(Number(asked["message_id"]), text));
      }
      default:
        // What a server that does not know the method answers.
        return fail(404, "Not Found");
    }
  }

  function request({ chat, user, text, nth, group = false, mention = false, image, document }: SaidThere) {
    const name = `@${BOT.username}`;
    const said = mention ? `${name} ${text}` : text;
    const content = image
      ? { caption: said, photo: photoOf(image) }
      : document
        ? { ...(said === "" ? {} : { caption: said }), document: documentOf(document) }
        : { text: said };
    const entities = mention ? { entities: [{ type: "mention", offset: 0, length: name.length }] } : {};
    const update = {
      update_id: 10_000 + nth,
      message: {
        message_id: nth,
        date: Math.floor(Date.now() / 1_000),
        chat: group ? { id: Number(chat), type: "supergroup", title: "Group" } : chatOf(chat),
        from: { id: Number(user), is_bot: false, first_name: `User ${user}` },
        ...content,
        ...entities,
      },
    };
    return {
      headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": SECRET },
      body: JSON.stringify(update),
    };
  }

  function photoOf(image: Buffer) {
    const id = `photo-${files.size}`;
    files.set(id, image);
    return [{ file_id: id, file_unique_id: id, width: 1, height: 1, file_size: image.length }];
  }

  function documentOf({ name, bytes }: NonNullable<SaidThere["document"]>) {
    const id = `document-${files.size}`;
    files.set(id, bytes);
    return { file_id: id, file_unique_id: id, file_name: name, file_size: bytes.length };
  }

  return {
    url,
    chats,
    messenger: {
      type: "telegram",
      settings: { botToken: TOKEN, secretToken: SECRET, apiUrl: url },
    },
    ...platformOver(chats, request),
  };
}

function chatOf(chat: string) {
  return Number(chat) < 0
    ? { id: Number(chat), type: "supergroup", title: "Group" }
    : { id: Number(chat), type: "private", first_name: "User" };
}

/** As a reader sees it: without the backslashes of MarkdownV2. */
function plain(text: string, mode: unknown): string {
  return mode === "MarkdownV2" ? text.replaceAll(/\\([_*[\]()~`>#+\-=|{}.!\\])/g, "$1") : text;
}

/** A field of a request's JSON; numbers as texts, too. */
function textIn(asked: Record<string, unknown>, name: string): string {
  const value = asked[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
