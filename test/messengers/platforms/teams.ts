import { generateKeyPairSync, sign } from "node:crypto";
import http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import https from "node:https";
import { onTestFinished, vi } from "vitest";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { answerJson, bodyOf, Chats, platformOver } from "../scripted-platform.ts";
import type { SaidThere, ScriptedPlatform } from "../scripted-platform.ts";

const APP = "11111111-2222-3333-4444-555555555555";
/** Of the form of a JWT: its client looks into it. */
const TOKEN = `${Buffer.from("{}").toString("base64url")}.${Buffer.from(JSON.stringify({ exp: 4_000_000_000 })).toString("base64url")}.c2ln`;
const LOGIN = "https://login.microsoftonline.com";
const ISSUER = "https://api.botframework.com";

/**
 * The Bot Connector of Teams, as learn.microsoft.com describes it, with keys of its own for what it signs. A chat is a
 * personal conversation, `a:77`, or a group's, `19:77@thread.v2`. Microsoft's
 * sign-in and keys, which have https addresses of their own, are played.
 */
export async function startTeams(): Promise<ScriptedPlatform> {
  const chats = new Chats();
  const files = new Map<string, Buffer>();
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const origin = await openHttpServer((request, response) => {
    void answer(request, response);
  });
  const { hostname, port } = new URL(origin);
  // The keys of what Microsoft signs lie at an https address of its own.
  vi.spyOn(https, "request").mockImplementation(((options: object, then: () => void) =>
    http.request({ ...options, hostname, port }, then)) as never);
  const asked = globalThis.fetch;
  vi.stubGlobal("fetch", (input: string | URL | Request, init?: RequestInit) => {
    const url = String(input instanceof Request ? input.url : input);
    return url.startsWith(LOGIN) ? asked(url.replace(LOGIN, origin), init) : asked(input, init);
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent((request.url ?? "").replace(/\?.*$/, ""));
    const body = await bodyOf(request);
    if (path.endsWith("/keys")) {
      const key = publicKey.export({ format: "jwk" });
      return answerJson(response, 200, { keys: [{ ...key, kid: "k1", use: "sig", alg: "RS256" }] });
    }
    if (path.endsWith("/oauth2/v2.0/token"))
      return answerJson(response, 200, { token_type: "Bearer", expires_in: 3_600, access_token: TOKEN });
    if (path.startsWith("/files/"))
      return void response.writeHead(200, { "content-type": "image/png" }).end(files.get(path));
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return answerJson(response, 401, {});
    const [, chat = "", what = "", id = ""] =
      /^\/v3\/conversations\/([^/]+)\/(\w+)(?:\/([^/]+))?/.exec(path) ?? [];
    if (what === "members") return answerJson(response, 200, { id, name: "User" });
    if (what !== "activities") {
      chats.faults.push(`${request.method} ${path}`);
      return answerJson(response, 404, {});
    }
    const asked: { type?: string; text?: string; textFormat?: string } = JSON.parse(body);
    if (asked.type === "typing") {
      chats.type();
      return answerJson(response, 200, { id: "typing" });
    }
    const trouble = chats.nextTrouble();
    if (trouble?.type === "slow-down")
      return answerJson(
        response,
        429,
        { error: { code: "429" } },
        { "retry-after": String(trouble.seconds) },
      );
    if (trouble?.type === "status")
      return answerJson(response, trouble.status, { error: { code: "Trouble" } });
    const text = asked.text ?? "";
    if (request.method === "PUT") {
      if (chats.edit(chat, id, text) === "gone")
        return answerJson(response, 404, { error: { code: "ActivityNotFoundInConversation" } });
      return answerJson(response, 200, { id });
    }
    const made = String(chats.nextId());
    chats.post(chat, { id: made, text, edits: 0, form: asked.textFormat ?? "" });
    if (trouble?.type === "lost-answer") return void response.destroy();
    answerJson(response, 201, { id: made });
  }

  function request({ chat, user, text, nth, group = false, mention = false, image }: SaidThere) {
    const mentioned = { id: `28:${APP}`, name: "Bot" };
    const activity = {
      type: "message",
      id: String(nth),
      timestamp: new Date().toISOString(),
      serviceUrl: origin,
      channelId: "msteams",
      from: { id: `29:${user}`, name: `User ${user}` },
      recipient: { id: `28:${APP}`, name: "Bot" },
      conversation: {
        id: chat,
        conversationType: group ? "groupChat" : "personal",
        tenantId: "t",
        isGroup: group,
      },
      text: mention ? `<at>Bot</at> ${text}` : text,
      textFormat: "plain",
      entities: mention ? [{ type: "mention", mentioned, text: "<at>Bot</at>" }] : [],
      channelData: { tenant: { id: "t" } },
      ...(image ? { attachments: [fileOf(image)] } : {}),
    };
    return {
      headers: { "content-type": "application/json", authorization: `Bearer ${token()}` },
      body: JSON.stringify(activity),
    };
  }

  function fileOf(image: Buffer) {
    const path = `/files/${files.size}.png`;
    files.set(path, image);
    return { contentType: "image/png", contentUrl: `${origin}${path}`, name: "a.png" };
  }

  function token(): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: ISSUER, aud: APP, iat: now, nbf: now, exp: now + 3_600, serviceurl: origin };
    const signed = `${part({ alg: "RS256", typ: "JWT", kid: "k1" })}.${part(claims)}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
  }

  return {
    messenger: {
      type: "teams",
      settings: { appId: APP, appPassword: "password-of-the-test", appTenantId: "t", apiUrl: origin },
    },
    ...platformOver(chats, request),
  };
}
