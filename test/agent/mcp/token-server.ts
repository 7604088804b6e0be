import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { openHttpServer } from "../../support/servers/http-server.ts";

/** An authorization server on loopback: its metadata, and a token endpoint for client credentials. */
export interface TokenServer {
  issuer: string;
  /** The tokens that are good now. */
  tokens: Set<string>;
  /** What the token endpoint was asked, oldest first. */
  asked: { authorization: string; form: Record<string, string>; headers: IncomingMessage["headers"] }[];
}

/** Gives tokens to whoever shows these credentials. */
export async function openTokenServer(clientId: string, clientSecret: string): Promise<TokenServer> {
  const origin = await openHttpServer((request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (request.url?.startsWith("/.well-known/oauth-authorization-server"))
      return answer(200, metadataOf(playing.issuer));
    if (request.method !== "POST" || request.url !== "/token") return answer(404, {});
    void textOf(request).then((text) => {
      const { authorization = "" } = request.headers;
      const form = Object.fromEntries(new URLSearchParams(text));
      playing.asked.push({ authorization, form, headers: request.headers });
      const isKnown = authorization === `Basic ${btoa(`${clientId}:${clientSecret}`)}`;
      if (!isKnown) return answer(401, { error: "invalid_client" });
      if (form["grant_type"] !== "client_credentials")
        return answer(400, { error: "unsupported_grant_type" });
      const token = randomUUID();
      playing.tokens.add(token);
      return answer(200, { access_token: token, token_type: "Bearer", expires_in: 3_600 });
    });
    return undefined;
  });
  const playing: TokenServer = {
    issuer: origin,
    tokens: new Set(),
    asked: [],
  };
  return playing;
}

function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ["code"],
    grant_types_supported: ["client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
