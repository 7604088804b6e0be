import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Secret } from "../secret.ts";

/**
 * A sign-in that has begun. The browser's tab stores it and the service does not, so any instance can finish it. It is signed
 * with a key that all instances have: a forged one is detected before the provider is asked.
 */
export interface Flow {
  redirectUri: string;
  state: string;
  nonce: string;
  /** PKCE's code verifier. */
  verifier: string;
}

export interface Flows {
  seal(flow: Flow): string;
  /** null: it did not begin here, or too long ago. */
  open(sealed: string): Flow | null;
}

/** Long enough to fetch a phone that shows a code. */
const FLOW_MS = 10 * 60_000;

const flowSchema = z.object({
  redirectUri: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  endsAtMs: z.number(),
});

/** The first key signs; each of them verifies, so that the key can be changed. */
export function createFlows(keys: readonly Secret[], clock: Pick<Clock, "now">): Flows {
  const macs = (text: string) =>
    keys.map((key) => createHmac("sha256", key.reveal()).update(`console sign-in ${text}`).digest());

  return {
    seal(flow) {
      const text = Buffer.from(JSON.stringify({ ...flow, endsAtMs: clock.now() + FLOW_MS })).toString(
        "base64url",
      );
      return `${text}.${macs(text)[0]?.toString("base64url") ?? ""}`;
    },
    open(sealed) {
      const [text = "", mac = ""] = sealed.split(".");
      const given = Buffer.from(mac, "base64url");
      if (!macs(text).some((good) => good.length === given.length && timingSafeEqual(good, given)))
        return null;
      const { endsAtMs, ...flow } = flowSchema.parse(
        JSON.parse(Buffer.from(text, "base64url").toString("utf8")),
      );
      return clock.now() < endsAtMs ? flow : null;
    },
  };
}
