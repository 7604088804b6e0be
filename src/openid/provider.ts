import type { Clock } from "../clock.ts";
import type { OpenIdSettings } from "../config/open-id.ts";
import { messageOf } from "../errors.ts";
import type { Claims } from "./claims.ts";
import { claimedRoles } from "./claims.ts";
import type { Flow } from "./flow.ts";

/**
 * The provider of OpenID Connect that operators sign in with: authorization code with PKCE, state and nonce; the ID token's
 * signature is verified. `openid-client` speaks the protocol, and is loaded with the first sign-in.
 */
export interface Provider {
  /** Where to send the browser. Rejects with ProviderAway. */
  begin(redirectUri: string): Promise<{ url: string; flow: Flow }>;
  /** `answer`: the query that the provider sent the browser back with. Rejects with ProviderAway and SignInRefused. */
  finish(flow: Flow, answer: string): Promise<Person>;
}

export interface Person {
  issuer: string;
  subject: string;
  claims: Claims;
}

/** The provider cannot be reached, or does not answer as one. */
export class ProviderAway extends Error {
  constructor(cause: unknown) {
    super(`Cannot ask the provider of OpenID Connect: ${messageOf(rootOf(cause))}`, { cause });
    this.name = "ProviderAway";
  }
}

/** The provider, or what it answered, lets nobody in. `reason` is one of the protocol's codes. */
export class SignInRefused extends Error {
  readonly reason: string;
  constructor(reason: string, cause: unknown) {
    super(`The sign-in was refused: ${reason}`, { cause });
    this.name = "SignInRefused";
    this.reason = reason;
  }
}

type Client = typeof import("openid-client");

/** Its addresses are read anew after this time; its keys whenever one is unknown. */
const METADATA_MS = 3_600_000;
const TIMEOUT_SECONDS = 30;
/** Beyond `openid`, those that the provider knows. */
const SCOPES = ["profile", "email", "roles", "groups"];

export function createProvider(settings: OpenIdSettings, clock: Pick<Clock, "now">): Provider {
  let found: { configuration: ReturnType<typeof discover>; atMs: number } | null = null;

  /** Asked once for all who sign in meanwhile. */
  async function discovered() {
    if (found === null || Math.abs(clock.now() - found.atMs) > METADATA_MS) {
      const mine = { configuration: discover(settings), atMs: clock.now() };
      found = mine;
      mine.configuration.catch(() => {
        if (found === mine) found = null;
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
  // Configuration parses that it is of this machine.
  const insecure = server.protocol === "http:" ? [client.allowInsecureRequests] : [];
  const configuration = await client.discovery(
    server,
    clientId,
    undefined,
    clientSecret === null ? client.None() : withSecret(client, clientSecret.reveal()),
    { execute: [...insecure, client.enableNonRepudiationChecks], timeout: TIMEOUT_SECONDS },
  );
  return { client, configuration };
}

/** As the protocol has it where nothing else is agreed: by HTTP's basic authentication; by a field where the provider takes no other. */
function withSecret(client: Client, secret: string): import("openid-client").ClientAuth {
  const basic = client.ClientSecretBasic(secret);
  const post = client.ClientSecretPost(secret);
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] } = server;
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest);
  };
}

/** `openid` is all that every provider knows; some give roles only to who asks for them. */
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
  // What it answered is not what was asked for: another nonce, a signature of nobody, a token that has ended.
  if (error instanceof client.ClientError && isOfTheAnswer(error.code)) {
    return new SignInRefused("invalid_token", error);
  }
  return new ProviderAway(error);
}

const OF_THE_ANSWER = /^OAUTH_(JWT|INVALID_RESPONSE|KEY_SELECTION|UNSUPPORTED)/;

function isOfTheAnswer(code: string | undefined): boolean {
  return code !== undefined && OF_THE_ANSWER.test(code);
}

function rethrowAs(Kind: typeof ProviderAway) {
  return (cause: unknown): never => {
    throw new Kind(cause);
  };
}

/** `fetch failed` has its reason behind it. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}
