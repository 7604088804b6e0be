import { createHash, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type {
  AuthProvider,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { mcpClientId, mcpClientMetadata } from "../../../domain/channels/mcp-client.ts";
import { createGuardedFetch } from "../connect/guarded-fetch.ts";
import type { McpSdk } from "../connect/sdk.ts";
import { loadSdk } from "../connect/sdk.ts";
import { Unusable } from "../connect/unusable.ts";

/** Where visitors' grants are kept: part of the store's contract (store/users.ts), for one channel. */
export interface Grants {
  read(userId: string, server: string): Promise<string | null>;
  /** False: the user is gone. */
  keep(userId: string, server: string, text: string | null): Promise<boolean>;
  /** False: the user is gone. */
  keepSignIn(signIn: { userId: string; stateHash: string; text: string; ttlMs: number }): Promise<boolean>;
  takeSignIn(stateHash: string): Promise<{ userId: string; text: string } | null>;
  /** False: it was taken, or it has expired. */
  hasSignIn(stateHash: string): Promise<boolean>;
}

/** An MCP server at which visitors sign in themselves, with what the `$NAME`s of its settings stand for. */
export interface OAuthServer {
  /** Its name in the channel's settings. */
  name: string;
  slug: string;
  url: string;
  clientId: string | null;
  clientSecret: string | null;
  /** null: its own origin is its authorization server. */
  issuer: string | null;
  scope: string | null;
  /** True: its address, and the link, may be private; the link may then be http on loopback. */
  allowsPrivate: boolean;
  /** Where the authorization server sends the visitor back to. */
  redirectUrl: string;
  grants: Grants;
}

/** What is kept of a visitor's grant. */
interface Grant {
  client: StoredOAuthClientInformation | null;
  tokens: StoredOAuthTokens | null;
}

/** What is kept of a sign-in that has begun: whoever comes back with its state finishes it. */
interface KeptSignIn {
  server: string;
  /** A server whose address has changed since is another one. */
  url: string;
  /** Our id of the thread in which the visitor was shown the link. */
  thread: string;
  verifier: string;
  discovery: OAuthDiscoveryState | null;
  client: StoredOAuthClientInformation | null;
}

/** The sign-in that was begun last, of which every call that waits shows the link. */
interface Begun {
  /** What the server wanted. */
  wanted: string;
  stateHash: string;
}

/** How long a link can be used. */
export const SIGN_IN_MS = 600_000;
const FETCH_MS = 10_000;
/** How often a call that waits looks whether the visitor has come back. */
const LOOK_MS = 500;
/** Between coming back and the tokens lies a request to the authorization server. */
const EXCHANGE_MS = FETCH_MS + 2_000;
const LINK_CHARS = 4_000;

/** The tokens of one visitor at one MCP server, for a connection that is this visitor's alone. */
export interface VisitorTokens {
  /** For the transport: gives the token, and refreshes it once for all requests that are refused at the same time. */
  readonly provider: AuthProvider;
  /** The server has refused the present token, or had none, and only the visitor can help. */
  readonly isSignInNeeded: boolean;
  /** The server has answered 403: it may want a token that allows more. */
  noteForbidden(response: Response): Promise<void>;
  /** Begins a sign-in, or joins the one that is under way. Rejects if the authorization server cannot be used. */
  begin(thread: string): Promise<BegunSignIn>;
}

export interface BegunSignIn {
  /** For the visitor. */
  link: string;
  /**
   * Waits for the visitor, at whichever instance they come back. False: they were refused, or refused it themselves, or it took too
   * long. Rejects with the signal's reason.
   */
  isDone(withinMs: number, signal: AbortSignal): Promise<boolean>;
}

export function visitorTokens(server: OAuthServer, userId: string): VisitorTokens {
  const { grants, name } = server;
  /** From the last refusal: where the authorization server is, and which scope is wanted. */
  let challenge: { resourceMetadataUrl?: URL; scope?: string } = {};
  let refreshing: Promise<boolean> | null = null;
  let sent: string | undefined;
  /** The token with which nothing more can be done; undefined: having none is what was refused. */
  let refused: { token: string | undefined } | null = null;
  let beginning: Promise<(Begun & BegunSignIn) | null> = Promise.resolve(null);

  const read = async () => grantFrom(await grants.read(userId, name));

  /** False: the visitor must sign in. */
  async function refresh(sdk: McpSdk, old: string | undefined): Promise<boolean> {
    const grant = await read();
    if (!grant.tokens) return false;
    // Another request, or another instance, has refreshed it meanwhile.
    if (grant.tokens.access_token !== old) return true;
    if (!grant.tokens.refresh_token) return false;
    const done = await authorize(sdk, server, { ...challenge }, providerOf(server, { userId, grant }));
    return done === "AUTHORIZED";
  }

  const provider: AuthProvider = {
    async token() {
      sent = (await read()).tokens?.access_token;
      // The visitor has come back, here or at another instance.
      if (refused && refused.token !== sent) refused = null;
      return sent;
    },

    async onUnauthorized({ response }) {
      const sdk = await loadSdk();
      const { error: _, ...wanted } = sdk.extractWWWAuthenticateParams(response);
      challenge = wanted;
      const old = sent;
      refreshing ??= refresh(sdk, old)
        .catch(() => false)
        .finally(() => (refreshing = null));
      if (await refreshing) return;
      refused = { token: (await read()).tokens?.access_token };
      throw new SignInNeeded(name);
    },
  };

  return {
    provider,

    get isSignInNeeded() {
      return refused !== null;
    },

    async noteForbidden(response) {
      const sdk = await loadSdk();
      const { error, ...wanted } = sdk.extractWWWAuthenticateParams(response);
      if (error !== "insufficient_scope") return;
      const { tokens } = await read();
      const scope = sdk.computeScopeUnion(tokens?.scope, wanted.scope);
      challenge = { ...wanted, ...(scope === undefined ? {} : { scope }) };
      refused = { token: tokens?.access_token };
    },

    begin(thread) {
      const begun = beginning
        .catch(() => null)
        .then(async (before) => {
          const wanted = JSON.stringify(challenge);
          const isOpen = before?.wanted === wanted && (await grants.hasSignIn(before.stateHash));
          return isOpen ? before : beginAnew(thread, wanted);
        });
      beginning = begun;
      return begun;
    },
  };

  async function beginAnew(thread: string, wanted: string): Promise<Begun & BegunSignIn> {
    const sdk = await loadSdk();
    const state = `${server.slug}.${randomBytes(32).toString("base64url")}`;
    const { client } = await read();
    const kept: KeptSignIn = { server: name, url: server.url, thread, verifier: "", discovery: null, client };
    let link: URL | null = null;
    const asking = providerOf(server, { userId, begun: kept, state, onLink: (url) => (link = url) });
    await authorize(sdk, server, { ...challenge, forceReauthorization: true }, asking);
    const shown = safeLink(link, server.allowsPrivate);
    const stateHash = hashOf(state);
    const text = JSON.stringify(kept);
    if (!(await grants.keepSignIn({ userId, stateHash, text, ttlMs: SIGN_IN_MS })))
      throw new Unusable("the visitor is gone");
    return {
      wanted,
      stateHash,
      link: shown,
      isDone: (withinMs, signal) => isDone(stateHash, withinMs, signal),
    };
  }

  async function isDone(stateHash: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
    let leftMs = withinMs;
    for (let isOpen = true; leftMs > 0; leftMs -= LOOK_MS) {
      await pause(Math.min(LOOK_MS, leftMs), undefined, { signal });
      await provider.token();
      if (refused === null) return true;
      if (!isOpen || (await grants.hasSignIn(stateHash))) continue;
      isOpen = false;
      leftMs = Math.min(leftMs, EXCHANGE_MS);
    }
    return false;
  }
}

/** The server answered 401, and there is nothing to answer it with. */
export class SignInNeeded extends Error {
  constructor(server: string) {
    super(`A visitor must sign in at MCP server ${server}`);
    this.name = "SignInNeeded";
  }
}

/** The channel that a state is of; null: it is none of ours. */
export function slugOfState(state: string): string | null {
  const [, slug = null] = /^([^.]+)\.[\w-]{43}$/.exec(state) ?? [];
  return slug;
}

export interface Finished {
  userId: string;
  server: string;
  thread: string;
}

/**
 * Finishes a sign-in by what its visitor came back with. Null: nobody began it, it is over, or its server is no longer that
 * one. Rejects if the authorization server gives no tokens.
 */
export async function finishSignIn(
  answer: { state: string; code: string; iss: string | null },
  { grants, serverOf }: { grants: Grants; serverOf: (name: string) => OAuthServer | null },
): Promise<Finished | null> {
  const taken = await grants.takeSignIn(hashOf(answer.state));
  if (!taken) return null;
  const begun = JSON.parse(taken.text) as KeptSignIn;
  const server = serverOf(begun.server);
  if (!server || server.url !== begun.url) return null;
  const { userId } = taken;
  const sdk = await loadSdk();
  const asked = { authorizationCode: answer.code, ...(answer.iss === null ? {} : { iss: answer.iss }) };
  await authorize(sdk, server, asked, providerOf(server, { userId, begun }));
  return { userId, server: begun.server, thread: begun.thread };
}

/** A visitor refused, or the authorization server did: the sign-in is over. */
export async function dropSignIn(grants: Grants, state: string): Promise<void> {
  await grants.takeSignIn(hashOf(state));
}

type AuthOptions = Omit<Parameters<McpSdk["auth"]>[1], "serverUrl" | "fetchFn">;

async function authorize(
  sdk: McpSdk,
  { url, issuer, allowsPrivate }: OAuthServer,
  options: AuthOptions,
  provider: OAuthClientProvider,
) {
  const guarded = createGuardedFetch({ url, issuer, allowsPrivate, longestMs: FETCH_MS, asking: () => null });
  try {
    const deadline = AbortSignal.timeout(FETCH_MS);
    const fetchFn: typeof fetch = (input, init) => guarded.fetch(input, { signal: deadline, ...init });
    return await sdk.auth(provider, { ...options, serverUrl: url, fetchFn });
  } finally {
    await guarded.close();
  }
}

/** What the SDK asks for and tells of one visitor's sign-in, or of refreshing their token. */
function providerOf(
  server: OAuthServer,
  {
    userId,
    grant = { client: null, tokens: null },
    begun,
    state,
    onLink = () => {},
  }: {
    userId: string;
    grant?: Grant;
    begun?: KeptSignIn;
    state?: string;
    onLink?: (link: URL) => void;
  },
): OAuthClientProvider {
  const { clientId, clientSecret, scope, issuer, redirectUrl, grants, name } = server;
  const documentUrl = clientId === null ? mcpClientId(redirectUrl) : null;
  let client = begun?.client ?? grant.client;

  return {
    redirectUrl,
    clientMetadata: {
      ...mcpClientMetadata(redirectUrl, { hasSecret: clientSecret !== null }),
      ...(scope === null ? {} : { scope }),
    },
    // Where the authorization server reads it, nothing has to be registered.
    ...(documentUrl === null ? {} : { clientMetadataUrl: documentUrl }),
    ...(state === undefined ? {} : { state: () => state }),

    clientInformation(asked) {
      // The server's metadata may name any authorization server: the secret, and the visitor, go to this one alone.
      if (issuer !== null && asked && withoutSlash(asked.issuer) !== withoutSlash(issuer)) {
        throw new Unusable(`it names another authorization server than the issuer of its settings`);
      }
      if (clientId === null) return client ?? undefined;
      return {
        client_id: clientId,
        ...(clientSecret === null ? {} : { client_secret: clientSecret }),
        ...(asked ? { issuer: asked.issuer } : {}),
      };
    },

    saveClientInformation(made) {
      client = made;
      if (begun) begun.client = made;
    },

    tokens: () => grant.tokens ?? undefined,

    async saveTokens(tokens) {
      const kept: Grant = { client: clientId === null ? client : null, tokens };
      await grants.keep(userId, name, JSON.stringify(kept));
    },

    // What the authorization server takes no more is not shown to it again. A sign-in keeps what it had before.
    async invalidateCredentials(what) {
      if (begun) return;
      if (what === "all" || what === "client") client = null;
      if (what === "all" || what === "tokens") grant.tokens = null;
      await grants.keep(userId, name, JSON.stringify({ client, tokens: grant.tokens }));
    },

    redirectToAuthorization: onLink,

    saveCodeVerifier(verifier) {
      if (begun) begun.verifier = verifier;
    },

    codeVerifier: () => begun?.verifier ?? "",

    saveDiscoveryState(discovery) {
      if (begun) begun.discovery = discovery;
    },

    discoveryState: () => begun?.discovery ?? undefined,
  };
}

function grantFrom(text: string | null): Grant {
  return text === null ? { client: null, tokens: null } : (JSON.parse(text) as Grant);
}

/** Only https, or http on this machine where private addresses are allowed; nothing that looks like another address. */
function safeLink(link: URL | null, allowsPrivate: boolean): string {
  const isLoopback = link?.hostname === "127.0.0.1" || link?.hostname === "localhost";
  const isSafe = link?.protocol === "https:" || (link?.protocol === "http:" && isLoopback && allowsPrivate);
  if (!link || !isSafe || link.username !== "" || link.password !== "" || link.href.length > LINK_CHARS) {
    throw new Unusable("its authorization server has no address that a visitor could be sent to");
  }
  return link.href;
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, "");
}

/** The state is in the visitor's link alone. */
function hashOf(state: string): string {
  return createHash("sha256").update(state).digest("hex");
}
