import { z } from "zod";
import { boundedBody } from "../bounded-body.ts";
import type { Clock } from "../clock.ts";
import type { OpenIdSettings } from "../config/open-id.ts";
import { messageOf } from "../errors.ts";
import type { Claims } from "./claims.ts";
import { claimedRoles } from "./claims.ts";
import type { Flow } from "./flow.ts";

/**
 * The OpenID Connect provider that operators sign in with: authorization code with PKCE, state and nonce; the ID token's
 * signature is verified. `openid-client` implements the protocol, and is loaded with the first sign-in.
 */
export interface Provider {
  /** The address to send the browser to. Rejects with ProviderAway. */
  begin(redirectUri: string): Promise<{ url: string; flow: Flow }>;
  /** `answer`: the query of the provider's redirect back. Rejects with ProviderAway and SignInRefused. */
  finish(flow: Flow, answer: string): Promise<Person>;
}

export interface Person {
  issuer: string;
  subject: string;
  claims: Claims;
}

/** The provider cannot be reached, or does not answer like one. */
export class ProviderAway extends Error {
  constructor(cause: unknown) {
    super(`Cannot ask the provider of OpenID Connect: ${messageOf(rootOf(cause))}`, { cause });
    this.name = "ProviderAway";
  }
}

/** The provider refused, or its answer is invalid. `reason` is one of the protocol's codes, or has a remedy behind it. */
export class SignInRefused extends Error {
  readonly reason: string;
  constructor(reason: string, cause: unknown) {
    super(`The sign-in was refused: ${reason}`, { cause });
    this.name = "SignInRefused";
    this.reason = reason;
  }
}

type Client = typeof import("openid-client");

/** The provider's addresses are read again after this time; its keys whenever one is unknown. */
const METADATA_MS = 3_600_000;
/** One that is away is asked this often at most, however many begin. */
const AWAY_MS = 1_000;
const TIMEOUT_SECONDS = 30;
/** Metadata, keys, tokens and claims are a few KB. */
const MOST_ANSWER_BYTES = 1_048_576;
/** Requested in addition to `openid`, if the provider supports them. */
const SCOPES = ["profile", "email", "roles", "groups"];

export function createProvider(settings: OpenIdSettings, clock: Pick<Clock, "now">): Provider {
  let found: { configuration: ReturnType<typeof discover>; atMs: number; forMs: number } | null = null;

  /** One request for all sign-ins that wait for it, and for those that come soon after one that failed. */
  async function discovered() {
    if (found === null || Math.abs(clock.now() - found.atMs) > found.forMs) {
      const mine = { configuration: discover(settings), atMs: clock.now(), forMs: METADATA_MS };
      found = mine;
      mine.configuration.catch(() => {
        mine.atMs = clock.now();
        mine.forMs = AWAY_MS;
      });
    }
    return found.configuration;
  }

  return {
    async begin(redirectUri) {
      const { client, configuration } = await discovered().catch(rethrowAs(ProviderAway));
      const verifier = client.randomPKCECodeVerifier();
      const flow: Flow = { redirectUri, state: client.randomState(), nonce: client.randomNonce(), verifier };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopesOf(configuration.serverMetadata().scopes_supported, settings.rolesClaim),
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, flow };
    },

    async finish(flow, answer) {
      const { client, configuration } = await discovered().catch(rethrowAs(ProviderAway));
      try {
        const tokens = await client.authorizationCodeGrant(
          configuration,
          new URL(`${flow.redirectUri}?${answer}`),
          {
            expectedState: flow.state,
            expectedNonce: flow.nonce,
            pkceCodeVerifier: flow.verifier,
          },
        );
        const claims = tokens.claims();
        if (claims === undefined) throw new SignInRefused("no_id_token", null);
        const { iss, sub } = claims;
        const known = claimedRoles(claims, settings.rolesClaim) !== null;
        const hasMore = !known && configuration.serverMetadata().userinfo_endpoint !== undefined;
        const more = hasMore ? await client.fetchUserInfo(configuration, tokens.access_token, sub) : {};
        return { issuer: iss, subject: sub, claims: { ...more, ...claims } };
      } catch (error) {
        throw failureOf(client, error);
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OpenIdSettings) {
  const client = await import("openid-client");
  const server = new URL(issuer);
  // The configuration allows http: only for an address of this machine.
  const insecure = server.protocol === "http:" ? [client.allowInsecureRequests] : [];
  const configuration = await client.discovery(
    server,
    clientId,
    undefined,
    clientSecret === null ? client.None() : withSecret(client, clientSecret.reveal()),
    {
      execute: [...insecure, client.enableNonRepudiationChecks],
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: boundedFetch,
    },
  );
  return { client, configuration };
}

/** For every request of the package. */
async function boundedFetch(address: string, init: object): Promise<Response> {
  const response = await fetch(address, init);
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  return new Response(boundedBody(body, { mostBytes: MOST_ANSWER_BYTES }), { status, statusText, headers });
}

/** HTTP's basic authentication, the protocol's default; a form field if the provider accepts nothing else. */
function withSecret(client: Client, secret: string): import("openid-client").ClientAuth {
  const basic = client.ClientSecretBasic(secret);
  const post = client.ClientSecretPost(secret);
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

/** Every provider supports `openid`; some include roles only if they are requested. */
function scopesOf(supported: readonly string[] = [], rolesClaim: string): string {
  return [
    "openid",
    ...[...new Set([...SCOPES, rolesClaim])].filter((scope) => supported.includes(scope)),
  ].join(" ");
}

function failureOf(client: Client, error: unknown): Error {
  if (error instanceof SignInRefused) return error;
  if (error instanceof client.AuthorizationResponseError) return new SignInRefused(error.error, error);
  if (error instanceof client.ResponseBodyError) {
    return error.status >= 500 ? new ProviderAway(error) : new SignInRefused(error.error, error);
  }
  // The answer does not fit the request: another nonce, an invalid signature, an expired token.
  if (error instanceof client.ClientError && isOfTheAnswer(error.code)) {
    const algorithm = algorithmIn(error);
    const remedy = algorithm === null ? "" : `: ${whyNot(algorithm)}`;
    return new SignInRefused(`invalid_token${remedy}`, error);
  }
  return new ProviderAway(error);
}

const OF_THE_ANSWER = /^OAUTH_(JWT|INVALID_RESPONSE|KEY_SELECTION|UNSUPPORTED)/;

function isOfTheAnswer(code: string | undefined): boolean {
  return code !== undefined && OF_THE_ANSWER.test(code);
}

/** The algorithm of a token's signature, where the library refused the token for it. */
function algorithmIn(error: Error): string | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (!/"alg" header|JWS algorithm/.test(at.message)) continue;
    const found = algorithmSchema.safeParse(at.cause);
    if (found.success) return found.data.header?.alg ?? found.data.alg ?? null;
  }
  return null;
}

const algorithm = z.string().regex(/^[\w-]{1,32}$/);
const algorithmSchema = z.object({
  header: z.object({ alg: algorithm }).optional(),
  alg: algorithm.optional(),
});

/** A signature with the client's secret (HS256) is not taken: whoever knows the secret could sign for anybody. */
function whyNot(used: string): string {
  return `the provider signs with ${used}. Set the signature of this client's ID tokens there to RS256, or to another one of its public keys that its metadata lists (PS256, ES256, ES384, EdDSA)`;
}

function rethrowAs(Kind: typeof ProviderAway) {
  return (cause: unknown): never => {
    throw new Kind(cause);
  };
}

/** `fetch failed` has the real reason in its cause. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}
