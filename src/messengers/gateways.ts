import type { WebhookOptions } from "chat";
import type { Clock, Timers } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import type { OutboxStore } from "../store.ts";
import type { Account, Accounts } from "./accounts.ts";

/** Of an adapter whose platform has no webhook for messages: a connection that stays open. */
export interface ListeningAdapter {
  startGatewayListener(
    options: WebhookOptions,
    durationMs: number,
    abortSignal: AbortSignal,
  ): Promise<Response>;
}

/** Discord's Gateway brings what users say: one process at a time listens for a channel, by a lease as for deliveries. */
export interface Gateways {
  start(): void;
  stop(): Promise<void>;
}

/** A connection of a channel's account. */
interface Listening {
  account: Account;
  ends: AbortController;
  done: Promise<unknown>;
  renewedAt: number;
}

const GATEWAY = "gateway";
const LEASE_MS = 6_000;
const LOOK_MS = 1_500;
/** Then it begins anew. */
const LONGEST_MS = 86_400_000;

export function createGateways({
  accounts,
  channels,
  outbox,
  clock,
  timers,
  log,
}: {
  accounts: Pick<Accounts, "open">;
  channels: () => readonly Channel[];
  outbox: Pick<OutboxStore, "lease" | "release">;
  clock: Clock;
  timers: Timers;
  log: PlainLog;
}): Gateways {
  const listening = new Map<string, Listening>();
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  let callOff = () => {};

  async function look(): Promise<void> {
    const wanted = channels().filter(({ messenger, enabled }) => enabled && messenger?.type === "discord");
    for (const slug of listening.keys()) if (!wanted.some((one) => one.slug === slug)) await end(slug);
    for (const channel of wanted) {
      const { slug } = channel;
      try {
        if (await outbox.lease(slug, GATEWAY, LEASE_MS)) {
          const account = await accounts.open(channel);
          const known = listening.get(slug);
          if (known) known.renewedAt = clock.elapsed();
          // Its settings have changed.
          if (known && known.account !== account) await end(slug);
          if (account && !listening.has(slug)) await begin(slug, account);
        } else await end(slug);
      } catch (error) {
        log.warn({ channel: slug, reason: messageOf(error) }, "cannot listen to a messenger's gateway");
        // Another process may have the lease by now.
        if (clock.elapsed() - (listening.get(slug)?.renewedAt ?? 0) > LEASE_MS - LOOK_MS) await end(slug);
      }
    }
  }

  async function begin(slug: string, account: Account): Promise<void> {
    if (!isListening(account.adapter)) return;
    const ends = new AbortController();
    let done: Promise<unknown> = Promise.resolve();
    const waitUntil = (task: Promise<unknown>) => void (done = task);
    await account.adapter.startGatewayListener({ waitUntil }, LONGEST_MS, ends.signal);
    const begun = { account, ends, done, renewedAt: clock.elapsed() };
    listening.set(slug, begun);
    void done
      .catch((error: unknown) =>
        log.warn({ channel: slug, reason: messageOf(error) }, "a gateway's connection ended"),
      )
      .finally(() => listening.get(slug) === begun && listening.delete(slug));
  }

  async function end(slug: string): Promise<void> {
    const known = listening.get(slug);
    listening.delete(slug);
    known?.ends.abort();
    await known?.done.catch(() => {});
  }

  function lookAndGoOn(): void {
    looking = look().finally(() => {
      if (!stopped) callOff = timers.after(LOOK_MS, lookAndGoOn);
    });
  }

  return {
    start: lookAndGoOn,
    async stop() {
      stopped = true;
      callOff();
      await looking;
      const slugs = [...listening.keys()];
      await Promise.all(slugs.map(end));
      await Promise.all(slugs.map((slug) => outbox.release(slug, GATEWAY).catch(() => {})));
    },
  };
}

function isListening<Adapter extends object>(adapter: Adapter): adapter is Adapter & ListeningAdapter {
  return "startGatewayListener" in adapter;
}
