import { generateKeyPairSync, sign } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { answerJson, bodyOf, Chats, platformOver } from "../scripted-platform.ts";
import type { SaidThere, ScriptedPlatform } from "../scripted-platform.ts";

const TOKEN = "bot-token-of-the-test";
const APPLICATION = "900";

/**
 * Discord's REST API, as docs.discord.com describes it, and what its Gateway brings, forwarded as the adapter forwards it. A
 * chat is a direct channel; in a group it is a thread of the channel `5`.
 */
export async function startDiscord(): Promise<
  ScriptedPlatform & { ping(webhookUrl: string, isSigned: boolean): Promise<Response> }
> {
  const chats = new Chats();
  const files = new Map<string, Buffer>();
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
  const at = new Map<string, string>();
  const origin = await openHttpServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace(/\?.*$/, "");
    const body = await bodyOf(request);
    if (path.startsWith("/files/")) return void response.writeHead(200).end(files.get(path));
    const fail = (status: number, code: number, message: string) =>
      answerJson(response, status, { code, message });
    if (request.headers.authorization !== `Bot ${TOKEN}`) return fail(401, 0, "401: Unauthorized");
    const [, chat = "", what = "", id = ""] = /^\/channels\/(\w+)(?:\/(\w+)(?:\/(\w+))?)?/.exec(path) ?? [];
    const messageOf = (one: { id: string; text: string }) => ({
      id: one.id,
      channel_id: chat,
      content: one.text,
      timestamp: at.get(one.id) ?? new Date().toISOString(),
      edited_timestamp: null,
      author: { id: APPLICATION, username: "bot", bot: true },
      mentions: [],
      attachments: [],
      type: 0,
    });
    if (what === "typing") {
      chats.type();
      return void response.writeHead(204).end();
    }
    if (what === "" && request.method === "GET")
      return answerJson(response, 200, { id: chat, type: 11, parent_id: "5" });
    if (what === "messages" && request.method === "GET")
      return answerJson(response, 200, chats.shown(chat).map(messageOf).toReversed());
    if (what !== "messages") {
      chats.faults.push(`${request.method} ${path}`);
      return fail(404, 0, "404: Not Found");
    }
    const trouble = chats.nextTrouble();
    if (trouble?.type === "slow-down")
      return answerJson(response, 429, {
        message: "You are being rate limited.",
        retry_after: trouble.seconds,
        global: false,
      });
    if (trouble?.type === "status") return fail(trouble.status, 0, "Trouble");
    const text = String(JSON.parse(body).content);
    if (text.length > 2_000) return fail(400, 50_035, "Invalid Form Body");
    if (request.method === "PATCH") {
      if (chats.edit(chat, id, text) === "gone") return fail(404, 10_008, "Unknown Message");
      return answerJson(response, 200, messageOf({ id, text }));
    }
    const made = String(chats.nextId());
    at.set(made, new Date().toISOString());
    chats.post(chat, { id: made, text, edits: 0, form: "content" });
    if (trouble?.type === "lost-answer") return void response.destroy();
    answerJson(response, 200, messageOf({ id: made, text }));
  }

  function request({ chat, user, text, nth, group = false, mention = false, image }: SaidThere) {
    const data = {
      id: String(nth),
      channel_id: chat,
      ...(group
        ? { guild_id: "6", channel_type: 11, thread: { id: chat, parent_id: "5" } }
        : { channel_type: 1 }),
      content: mention ? `<@${APPLICATION}> ${text}` : text,
      timestamp: new Date().toISOString(),
      author: { id: user, username: `user${user}`, global_name: `User ${user}`, bot: false },
      mentions: mention ? [{ id: APPLICATION, username: "bot" }] : [],
      attachments: image ? [fileOf(image)] : [],
    };
    return {
      headers: { "content-type": "application/json", "x-discord-gateway-token": TOKEN },
      body: JSON.stringify({ type: "GATEWAY_MESSAGE_CREATE", timestamp: Date.now(), data }),
    };
  }

  function fileOf(image: Buffer) {
    const path = `/files/${files.size}.png`;
    files.set(path, image);
    return {
      id: "1",
      filename: "a.png",
      content_type: "image/png",
      size: image.length,
      url: `${origin}${path}`,
    };
  }

  return {
    messenger: {
      type: "discord",
      settings: { botToken: TOKEN, publicKey: raw, applicationId: APPLICATION, apiUrl: origin },
    },
    ...platformOver(chats, request),
    ping(webhookUrl, isSigned) {
      const body = JSON.stringify({ type: 1, id: "1" });
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const signature = sign(null, Buffer.from(timestamp + (isSigned ? body : "")), privateKey).toString(
        "hex",
      );
      return fetch(webhookUrl, {
        method: "POST",
        body,
        headers: { "x-signature-ed25519": signature, "x-signature-timestamp": timestamp },
      });
    },
  };
}
