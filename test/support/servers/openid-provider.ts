import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import type { ClientMetadata } from "oidc-provider";

/**
 * A real provider of OpenID Connect, which asks nobody for a password: whoever comes is `person`.
 */
export interface TestProvider {
  issuer: string;
  /** Who signs in next, and what is claimed of them; null: they say no. */
  person: (Record<string, unknown> & { sub: string }) | null;
  /** Paths that were asked for. */
  asked: string[];
  close(): Promise<void>;
}

export interface TestProviderOptions {
  client?: Partial<ClientMetadata>;
  redirectUri: string;
  port?: number;
  /** True: claims of scopes are in userinfo alone, as the standard has it. */
  conforms?: boolean;
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: "one" };

export const CLIENT_ID = "console";

export async function openProvider(options: TestProviderOptions): Promise<TestProvider> {
  const { client = {}, redirectUri, port = 0, conforms = true } = options;
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`;

  const opened: TestProvider = {
    issuer,
    person: null,
    asked: [],
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
  /** What was claimed when somebody came: tokens are asked for later. */
  const claimed = new Map<string, Record<string, unknown> & { sub: string }>();

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        redirect_uris: [redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "none",
        ...client,
      },
    ],
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "HS256"] },
    clientAuthMethods: [client.token_endpoint_auth_method ?? "none"],
    jwks: { keys: [jwk] },
    cookies: { keys: ["for tests alone"] },
    claims: { openid: ["sub"], profile: ["preferred_username"], roles: ["roles", "realm_access"] },
    scopes: ["openid", "profile", "roles"],
    conformIdTokenClaims: conforms,
    pkce: { required: () => true },
    ttl: {
      AccessToken: 3_600,
      AuthorizationCode: 3_600,
      Grant: 3_600,
      IdToken: 3_600,
      Interaction: 3_600,
      Session: 3_600,
    },
    renderError(context, out) {
      context.body = out.error;
    },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => claimed.get(sub) ?? { sub } }),
    async loadExistingGrant(context) {
      const grant = new context.oidc.provider.Grant({
        clientId: context.oidc.client?.clientId ?? "",
        accountId: context.oidc.session?.accountId ?? "",
      });
      grant.addOIDCScope("openid profile roles");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    opened.asked.push(context.path);
    if (!context.path.startsWith("/interaction/")) return next();
    const { person } = opened;
    if (person) claimed.set(person.sub, person);
    context.respond = false;
    await provider.interactionFinished(
      context.req,
      context.res,
      person ? { login: { accountId: person.sub, remember: false } } : { error: "access_denied" },
    );
  });
  const handle = provider.callback();
  server.on("request", (request, response) => void handle(request, response));
  return opened;
}

/** What a browser does: follows the provider from `url` until it sends back to `redirectUri`; with which query. */
export async function followTo(redirectUri: string, url: string): Promise<string> {
  const cookies = new Map<string, string>();
  for (let at = url, hops = 0; hops < 10; hops += 1) {
    const response = await fetch(at, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
    });
    const text = await response.text();
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const to = response.headers.get("location");
    if (to === null) throw new Error(`The provider sends nowhere: ${response.status} ${text.slice(0, 500)}`);
    at = new URL(to, at).href;
    if (at.startsWith(`${redirectUri}?`)) return at.slice(redirectUri.length + 1);
  }
  throw new Error("The provider sends on and on");
}
