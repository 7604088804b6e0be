import { z } from "zod";
import { mustDeclareAtMost } from "../../admission/arrival.ts";
import { addressReader, countedAs } from "../../admission/client-address.ts";
import type { Directory } from "../../admission/directory.ts";
import { bearerFrom } from "../../admission/keys.ts";
import type { OperatorAdmission } from "../../admission/operator-admission.ts";
import { openWindow } from "../../admission/rate-windows.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { OpenIdSettings } from "../../config/open-id.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { PlainLog } from "../../log.ts";
import { claimedRoles, grantedBy, nameIn } from "../../openid/claims.ts";
import { createFlows } from "../../openid/flow.ts";
import { createProvider, ProviderAway, SignInRefused } from "../../openid/provider.ts";
import { operatorView } from "../../operators/accounts/operators.ts";
import { SESSION_MS, signIn, signOut } from "../../operators/accounts/sign-in.ts";
import { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import { bodyOf } from "../body.ts";
import { emptyAnswer, jsonAnswer, textAnswer } from "../route.ts";
import type { Route, RouteRequest } from "../route.ts";

/**
 * Signing in to the console by OpenID Connect. The tab keeps what began (flow.ts) in its own storage, and no cookie is
 * there: nothing that another site makes a browser send can sign anybody in or out.
 */
export interface SignInDependencies {
  config: Pick<Config, "openId" | "clientIpSource" | "trustedProxyHops">;
  /** What the flows are signed with. */
  transportKeys: readonly Secret[];
  admission: OperatorAdmission;
  store: Store;
  directory: Pick<Directory, "renew">;
  clock: Clock;
  log: PlainLog;
}

type Handle = (incoming: RouteRequest) => Promise<HttpAnswer>;

/** A flow is some 400 characters, an answer rarely more; some providers' codes are tokens. */
const LONGEST = 8_192;
/** Nobody is known yet who begins or finishes. */
const MAX_BODY_BYTES = 32_768;
const MOST_FINISHED = 100;
const MINUTE_MS = 60_000;

const beginSchema = z.object({ redirectUri: z.string().max(LONGEST).refine(isConsole) });
const finishSchema = z.object({ flow: z.string().max(LONGEST), answer: z.string().max(LONGEST) });

/** GET, POST /console/sign-in; POST /console/sign-in/finish, /console/sign-out. */
export function signInRoutes(dependencies: SignInDependencies): Route[] {
  const { openId } = dependencies.config;
  const told = route("GET", "/console/sign-in", async () => jsonAnswer(200, { openId: openId !== null }));
  return openId === null ? [told] : [told, ...openIdRoutes(dependencies, openId)];
}

function openIdRoutes(dependencies: SignInDependencies, openId: OpenIdSettings): Route[] {
  const { transportKeys, admission, store, directory, clock, log } = dependencies;
  const provider = createProvider(openId, clock);
  const flows = createFlows(transportKeys, clock);
  const mayAsk = doorFor(dependencies);

  const begin: Handle = async ({ request }) => {
    mustDeclareAtMost(MAX_BODY_BYTES, request);
    const body = await bodyOf(request, MAX_BODY_BYTES, { schema: beginSchema });
    if (!isAskedHost(new URL(body.redirectUri).host, request.headers)) {
      throw new Refusal(
        "invalid",
        "redirectUri is not of the host that was asked: a proxy in front must pass the Host header on, or set X-Forwarded-Host",
      );
    }
    const { url, flow } = await provider.begin(body.redirectUri).catch(away);
    return jsonAnswer(200, { url, flow: flows.seal(flow) });
  };

  const finish: Handle = async (incoming) => {
    mustDeclareAtMost(MAX_BODY_BYTES, incoming.request);
    const body = await bodyOf(incoming.request, MAX_BODY_BYTES, { schema: finishSchema });
    const flow = flows.open(body.flow);
    // Before the provider or the store are asked for anything.
    if (flow === null || new URLSearchParams(body.answer).get("state") !== flow.state) {
      throw new Refusal("invalid", "This sign-in did not begin in this tab, or too long ago: begin again");
    }
    mayAsk(incoming);
    const person = await provider.finish(flow, body.answer).catch(refusedOrAway);
    if (person instanceof SignInRefused) {
      return textAnswer(403, `The sign-in was refused (${printable(person.reason)})`);
    }
    const { issuer, subject, claims } = person;
    const name = nameIn(claims);
    const granted = grantedBy(claimedRoles(claims, openId.rolesClaim) ?? [], openId.roles);
    const signedIn = await signIn({ store, clock }, { issuer, subject, name, granted });
    switch (signedIn.type) {
      case "signed-in": {
        await directory.renew();
        incoming.note({ operator: signedIn.operator.name });
        const endsAt = clock.now() + SESSION_MS;
        return jsonAnswer(200, { ...operatorView(signedIn.operator), key: signedIn.key.reveal(), endsAt });
      }
      case "no-role":
        await directory.renew();
        return textAnswer(
          403,
          `You are known as ${name}, and have no role here: the claim ${openId.rolesClaim} names none of ${openId.roles === null ? "admin, agent and auditor" : "the values of OIDC_ROLES"}. Ask who manages your account`,
        );
      case "taken":
        throw new Refusal(
          "conflict",
          `There is another operator named ${signedIn.name}, who does not sign in as you do. Ask an admin to remove it`,
        );
    }
  };

  const leave: Handle = async (incoming) => {
    const operator = admission.admit(incoming);
    const key = bearerFrom(incoming.request.headers.get("authorization")) ?? "";
    if (await signOut({ store, clock, operator: operator.name }, new Secret(key))) await directory.renew();
    return emptyAnswer(204);
  };

  /** The log says why, and nothing that a token holds. */
  function away(error: unknown): never {
    if (!(error instanceof ProviderAway)) throw error;
    log.warn({ reason: printable(error.message) }, "cannot sign anybody in");
    throw new Refusal("unavailable");
  }

  function refusedOrAway(error: unknown): SignInRefused {
    if (!(error instanceof SignInRefused)) return away(error);
    log.warn({ reason: printable(error.reason) }, "a sign-in was refused");
    return error;
  }

  return [
    route("POST", "/console/sign-in", begin),
    route("POST", "/console/sign-in/finish", finish),
    route("POST", "/console/sign-out", leave),
  ];
}

/**
 * Whoever finishes costs a request to the provider: not too often from one address. Only a sign-in that began here counts,
 * so that nobody behind the same proxy is locked out by noise.
 */
function doorFor({ config, clock, log }: SignInDependencies): (incoming: RouteRequest) => void {
  const finished = openWindow(MOST_FINISHED, MINUTE_MS);
  const addressOf = addressReader(config, log);
  return ({ request }) => {
    const address = countedAs(addressOf(request));
    const waitSeconds = finished.full(address, clock.now());
    if (waitSeconds !== null) throw new Refusal("rate-limited", "", waitSeconds);
    finished.count(address, clock.now());
  };
}

function isConsole(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && pathname.endsWith("/console") && search === "" && hash === "";
}

/**
 * The way back leads to where the console was asked for. A stranger may write these headers, and gets no further than the
 * provider, which goes back to those addresses alone that are registered with it.
 */
function isAskedHost(host: string, headers: ReadonlyMap<string, string>): boolean {
  const [forwarded = ""] = (headers.get("x-forwarded-host") ?? "").split(",");
  return [headers.get("host"), forwarded.trim()].some((asked) => asked?.toLowerCase() === host);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
}

function route(method: Route["method"], path: string, handle: Handle): Route {
  return { method, path, api: "operator", documentation: "hidden", handle };
}
