import { availableParallelism } from "node:os";
import { z } from "zod";
import { Secret } from "../secret.ts";

/** What a variable's value may be; the one message of each kind says what the variable takes. */

/** More than any use of this service, and small enough for every sum and buffer that is made of it. */
export const MOST = 100_000_000;

/** A timer holds 2^31 ms; longer ones fire at once. */
const LONGEST_TIMER_SECONDS = 2_147_483;

/** Nobody has so many cores that a larger number is not a slip. */
const MOST_PROCESSES = 256;

export function whole(from: number, to: number) {
  const takes = `a whole number from ${from} to ${to}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, takes)
    .transform(Number)
    .refine((value) => value >= from && value <= to, takes);
}

/** A busy installation uses more in a day than nine digits say. */
export function tokens() {
  return z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "a whole number from 1 to 999999999999999")
    .transform(Number);
}

export function processes() {
  const takes = `auto, or a whole number from 1 to ${MOST_PROCESSES}`;
  return z
    .string()
    .regex(/^(auto|[1-9]\d{0,2})$/, takes)
    .transform((text) => (text === "auto" ? availableParallelism() : text === "1" ? null : Number(text)))
    .refine((count) => (count ?? 1) <= MOST_PROCESSES, takes);
}

export function timer(from: number) {
  return whole(from, LONGEST_TIMER_SECONDS);
}

export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, `one of ${words.join(", ")}`);
}

export function httpUrl() {
  return z.string().refine((text) => isUrl(text, ["http:", "https:"]), "an http:// or https:// address");
}

/** It travels in a header: what a header cannot carry could never be matched. */
export function key() {
  return z
    .string()
    .regex(/^[\x21-\x7e]+$/, "one or more printable ASCII characters without spaces")
    .transform((text) => new Secret(text));
}

/** Keys that callers send: a comma would end one, for it joins headers of one name. */
export function callersKeys() {
  return z
    .string()
    .regex(
      /^[\x21-\x2b\x2d-\x7e]+(?: [\x21-\x2b\x2d-\x7e]+)*$/,
      "one or more printable ASCII characters without commas; a space separates keys",
    )
    .transform((text) => text.split(" ").map((key) => new Secret(key)));
}

export function redisUrls() {
  return z
    .string()
    .transform((text) => text.split(",").map((url) => url.trim()))
    .refine((urls) => !urls.some((url) => /sentinel/i.test(url.split(":", 1)[0] ?? "")), {
      message:
        "redis:// or rediss:// addresses. Sentinel is not asked for the primary: name an address that leads to it (a proxy or a service that follows the failover), or nodes of a Redis Cluster",
      abort: true,
    })
    .refine(
      (urls) =>
        urls.every((url) => isUrl(url, ["redis:", "rediss:"]) && isDecodable(url) && endsInDatabase(url)),
      "redis:// or rediss:// addresses, separated by commas, with nothing behind the port but a database's number, other characters of a password as %XX",
    )
    .transform((urls) => urls.map((url) => new Secret(url)));
}

export function isUrl(text: string, protocols: string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) && new URL(text).hostname !== "";
}

/** Behind the host stands a database's number, or nothing. */
function endsInDatabase(url: string): boolean {
  return /^(\/\d{0,5})?$/.test(new URL(url).pathname);
}

/** A "%" in a user's name or password begins an escape. */
function isDecodable(url: string): boolean {
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.[\d.]+|::1|\[::1\])$/.test(host);
}
