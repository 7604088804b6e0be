import { generateKeyPairSync } from "node:crypto";
import { Provider } from "oidc-provider";
import type { ClientMetadata } from "oidc-provider";
import { openHttpServer } from "../../support/servers/http-server.ts";

/** A real authorization server for MCP (`oidc-provider`), which asks nobody for a password: whoever comes is `person`. */
export interface VisitorAuthServer {
  issuer: string;
  /** Who signs in next; null: they say no. */
  person: string | null;
  /** The access tokens that are good now → whose they are. */
  tokens: Map<string, string>;
  /** The forms that the token endpoint was sent. */
  asked: Record<string, string>[];
  /** True: no token is refreshed any more. */
  isOver: boolean;
  /** Clients that registered themselves. */
  registered: string[];
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: "one" };

export async function openVisitorAuthServer(clients: ClientMetadata[] = []): Promise<VisitorAuthServer> {
  let handle: ReturnType<Provider["callback"]> | null = null;
  const issuer = await openHttpServer((request, response) => {
    void handle?.(request, response);
  });
  const opened: VisitorAuthServer = {
    issuer,
    person: "kim",
    tokens: new Map(),
    asked: [],
    isOver: false,
    registered: [],
  };
  const provider = new Provider(issuer, {
    clients,
    jwks: { keys: [jwk] },
    cookies: { keys: ["for tests alone"] },
    scopes: ["openid", "offline_access", "tools"],
    pkce: { required: () => true },
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 600,
      Grant: 3_600,
      Interaction: 600,
      Session: 3_600,
      RefreshToken: 3_600,
    },
    issueRefreshToken: () => Promise.resolve(true),
    rotateRefreshToken: true,
    renderError(context, out) {
      context.body = JSON.stringify(out);
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, __, oneOf) => oneOf ?? [],
        getResourceServerInfo: () => ({ scope: "tools", accessTokenFormat: "opaque" }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => Promise.resolve({ sub }) }),
    async loadExistingGrant(context) {
      const { client, session, params } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? "",
        accountId: session?.accountId ?? "",
      });
      grant.addOIDCScope("openid offline_access tools");
      grant.addResourceScope(String(params?.["resource"]), "tools");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    if (!context.path.startsWith("/interaction/")) {
      if (context.path === "/token" && opened.isOver) {
        context.status = 400;
        context.body = { error: "invalid_grant" };
        return;
      }
      await next();
      const form = context.oidc?.params;
      if (context.path === "/token") opened.asked.push({ ...form } as Record<string, string>);
      if (context.path === "/reg") opened.registered.push(context.oidc?.client?.clientId ?? "");
      return;
    }
    const { person } = opened;
    context.respond = false;
    await provider.interactionFinished(
      context.req,
      context.res,
      person === null
        ? { error: "access_denied" }
        : { login: { accountId: person, remember: false }, consent: {} },
    );
  });
  provider.on("access_token.saved", (token) => void opened.tokens.set(token.jti, token.accountId));
  handle = provider.callback();
  return opened;
}
