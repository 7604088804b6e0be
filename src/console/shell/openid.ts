import { Problem } from "../service/problem.ts";
import { keepKey } from "./key.ts";

/**
 * Signing in by OpenID Connect: the browser goes to the provider, and returns to this page with an answer. The tab stores
 * the sign-in that it began, so that an answer for another tab or site signs nobody in here.
 */
const NAME = "operator-sign-in";

interface Begun {
  flow: string;
  /** The requested room. */
  place: string;
}

/** Does the service have a provider? */
export async function hasOpenId(): Promise<boolean> {
  const response = await fetch("/console/sign-in", { credentials: "omit" }).catch(() => null);
  if (response === null || !response.ok) return false;
  // Casts here and below: the service's answers, and what this page has stored itself, have these types.
  return ((await response.json()) as { openId: boolean }).openId;
}

/** Leaves the page. Rejects with a Problem. */
export async function beginSignIn(): Promise<void> {
  const { url, flow } = await post<{ url: string; flow: string }>("/console/sign-in", {
    redirectUri: location.origin + location.pathname,
  });
  const begun: Begun = { flow, place: location.hash };
  sessionStorage.setItem(NAME, JSON.stringify(begun));
  location.assign(url);
}

/** The provider's answer, removed from the address at once. null: there is none. */
export function takeAnswer(): string | null {
  const query = new URLSearchParams(location.search);
  if (!query.has("state") || !(query.has("code") || query.has("error"))) return null;
  history.replaceState(null, "", location.pathname + location.hash);
  return query.toString();
}

/** Returns the key of the new session. Rejects with a message for the reader. */
export async function finishSignIn(answer: string): Promise<string> {
  const kept = sessionStorage.getItem(NAME);
  sessionStorage.removeItem(NAME);
  if (kept === null) throw new Problem(0, "This sign-in did not begin in this tab: begin again.");
  const { flow, place } = JSON.parse(kept) as Begun;
  const { key } = await post<{ key: string }>("/console/sign-in/finish", { flow, answer });
  await everywhere(key);
  keepKey(key, "signed in");
  if (place !== "") history.replaceState(null, "", location.pathname + place);
  return key;
}

/** Ends the session in the service too. Even if that fails, the tab has forgotten it. */
export function signOut(key: string): void {
  const headers = { authorization: `Bearer ${key}` };
  const options: RequestInit = { method: "POST", headers, credentials: "omit", keepalive: true };
  void fetch("/console/sign-out", options).catch(() => {});
}

const LOOK_EVERY_MS = 200;
const LOOKS = 15;

/** Another instance than the one that created the key may answer, and know the key a moment later. */
async function everywhere(key: string): Promise<void> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch("/v1/operator/me", { headers, credentials: "omit" }).catch(() => null);
    if (response?.status !== 401) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function post<Value>(path: string, body: object): Promise<Value> {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    credentials: "omit",
    body: JSON.stringify(body),
  }).catch(() => null);
  if (response === null) throw new Problem(0, "The service cannot be reached. Is your connection up?");
  if (response.ok) return (await response.json()) as Value;
  const said = (await response.text().catch(() => "")).trim();
  throw new Problem(response.status, wordsFor(response.status, said));
}

function wordsFor(status: number, said: string): string {
  if (status === 429) return "Too many sign-ins came from your address. Try again in a minute.";
  if (status === 503) return "The sign-in service cannot be reached right now. Try again in a moment.";
  return said === "" ? `The service answered ${status}. Its log says why.` : `${said}.`;
}
