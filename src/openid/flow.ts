import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../clock.ts";
import type { Secret } from "../secret.ts";

/**
 * A sign-in that has begun, as the browser's tab keeps it: the service keeps nothing, so that any instance can finish it.
 * It is signed, with a key that all instances have: what was not begun here is known before anybody is asked.
 */
export interface Flow {
  redirectUri: string;
  state: string;
  nonce: string;
  /** Of PKCE. */
  verifier: string;
}

export interface Flows {
  seal(flow: Flow): string;
  /** Null: it did not begin here, or too long ago. */
  open(sealed: string): Flow | null;
}

/** Long enough to look for a telephone that shows a code. */
const FLOW_MS = 10 * 60_000;

const flowSchema = z.object({
  redirectUri: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  endsAtMs: z.number(),
});

/** The first key signs; any of them is good, as callers' keys are while one takes the place of another. */
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
