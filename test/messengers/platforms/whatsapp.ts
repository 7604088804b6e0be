import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { answerJson, bodyOf, Chats, platformOver } from "../scripted-platform.ts";
import type { SaidThere, ScriptedPlatform } from "../scripted-platform.ts";

const TOKEN = "access-token-of-the-test";
const APP_SECRET = "app-secret-of-the-test";
export const VERIFY = "verify-token-of-the-test";
const PHONE = "1555000";

/** WhatsApp's Cloud API, as developers.facebook.com describes it. A chat is a user's number. */
export async function startWhatsApp(): Promise<ScriptedPlatform> {
  const chats = new Chats();
  const files = new Map<string, Buffer>();
  const origin = await openHttpServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").replace(/\?.*$/, "");
    const body = await bodyOf(request);
    const fail = (status: number, code: number, message: string) =>
      answerJson(response, status, { error: { message, type: "OAuthException", code } });
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return fail(401, 190, "Invalid OAuth access token");
    if (path.startsWith("/bytes/"))
      return void response.writeHead(200, { "content-type": "image/png" }).end(files.get(path.slice(7)));
    const id = path.split("/")[2] ?? "";
    if (files.has(id))
      return answerJson(response, 200, { url: `${origin}/bytes/${id}`, mime_type: "image/png", id });
    if (!path.endsWith(`/${PHONE}/messages`)) {
      chats.faults.push(path);
      return fail(404, 100, "Unknown path");
    }
    const asked: Record<string, unknown> & { text?: { body?: string } } = JSON.parse(body);
    if (asked["status"] === "read") {
      chats.type();
      return answerJson(response, 200, { success: true });
    }
    const trouble = chats.nextTrouble();
    if (trouble?.type === "slow-down") return fail(400, 131_056, "(#131056) Pair rate limit hit");
    if (trouble?.type === "status") return fail(trouble.status, 131_000, "Something went wrong");
    const text = asked.text?.body ?? "";
    if (text.length > 4_096) return fail(400, 100, "Too long");
    const chat = String(asked["to"]);
    const wamid = `wamid.${chats.nextId()}`;
    chats.post(chat, { id: wamid, text, edits: 0, form: String(asked["type"]) });
    if (trouble?.type === "lost-answer") return void response.destroy();
    answerJson(response, 200, {
      messaging_product: "whatsapp",
      contacts: [{ input: chat, wa_id: chat }],
      messages: [{ id: wamid }],
    });
  }

  function request({ chat, user, text, nth, image }: SaidThere) {
    const about = { id: `wamid.in.${nth}`, from: chat, timestamp: String(Math.floor(Date.now() / 1_000)) };
    const message = image
      ? { ...about, type: "image", image: { id: fileOf(image), mime_type: "image/png", caption: text } }
      : { ...about, type: "text", text: { body: text } };
    const value = {
      messaging_product: "whatsapp",
      metadata: { display_phone_number: PHONE, phone_number_id: PHONE },
      contacts: [{ profile: { name: `User ${user}` }, wa_id: chat }],
      messages: [message],
    };
    const body = JSON.stringify({
      object: "whatsapp_business_account",
      entry: [{ id: "1", changes: [{ field: "messages", value }] }],
    });
    const signature = `sha256=${createHmac("sha256", APP_SECRET).update(body).digest("hex")}`;
    return { headers: { "content-type": "application/json", "x-hub-signature-256": signature }, body };
  }

  function fileOf(image: Buffer): string {
    const id = `media${files.size}`;
    files.set(id, image);
    return id;
  }

  return {
    messenger: {
      type: "whatsapp",
      settings: {
        accessToken: TOKEN,
        appSecret: APP_SECRET,
        phoneNumberId: PHONE,
        verifyToken: VERIFY,
        apiUrl: origin,
      },
    },
    ...platformOver(chats, request),
  };
}
