import { createHash } from "node:crypto";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { hashKey } from "../../src/keys.ts";
import type { Operator } from "../../src/domain/people/operator.ts";
import { Secret } from "../../src/secret.ts";
import type { RetentionField } from "../../src/domain/channels/channel.ts";
import { sampleChannel } from "../stores/samples.ts";
import type { RetentionPlan } from "./plan.ts";

/** The channels of every simulation, and the keys to them. */
export const ORIGIN = "https://shop.example";
export const PUBLISHABLE_KEY = "pk_shop";
export const SECRET_KEY = "sk_shop_secret";
export const TRANSPORT_KEY = "transport-key";

const secretKeyHash = createHash("sha256").update(SECRET_KEY).digest("hex");

const handoff = { enabled: true };

const DAY_MS = 86_400_000;

/** Threads of the channel that bots talk in are never deleted. */
export function channelsWith(retention: RetentionPlan | null): readonly Channel[] {
  const shop = sampleChannel({
    publishableKey: PUBLISHABLE_KEY,
    secretKeyHash,
    allowedOrigins: [ORIGIN],
    handoff,
  });
  return [
    retention ? { ...shop, retention: inDays(retention) } : shop,
    sampleChannel({ slug: "cli", kind: "transport", publishableKey: null, secretKeyHash: null, handoff }),
  ];
}

function inDays({ threadsMs, anonymousMs }: RetentionPlan): RetentionField {
  return {
    ...(threadsMs === null ? {} : { threadsDays: threadsMs / DAY_MS }),
    ...(anonymousMs === null ? {} : { anonymousDays: anonymousMs / DAY_MS }),
  };
}

export const operatorKey = (name: string) => `op_${name}`;

/** As many as any plan has. */
export const OPERATORS: readonly Operator[] = ["ann", "ben", "cid"].map((name) => ({
  name,
  role: "agent",
  channels: null,
  keyHash: hashKey(new Secret(operatorKey(name))),
}));

/** Who deletes. */
export const KEEPER: Operator = {
  name: "kim",
  role: "admin",
  channels: null,
  keyHash: hashKey(new Secret(operatorKey("kim"))),
};

/** What the service says of hand-offs; a wait ends by itself within a simulation. */
export const HAND_OFF = {
  waitMs: 5_000,
  message: "A person comes.",
  unavailable: "Nobody is there.",
  answerMs: 3_000,
  unanswered: "The person did not answer.",
};
