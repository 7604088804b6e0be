import type { Clock, Timers } from "../clock.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import type { OutboxStore, Store } from "../store.ts";
import type { Threads } from "../threads/threads.ts";
import type { MessengerDelivery } from "../webhooks/lane.ts";
import { AccountFault, createAccounts } from "./accounts.ts";
import { createDeliver } from "./deliver.ts";
import { createGateways } from "./gateways.ts";
import type { Arrived } from "./inbox.ts";
import { isForBot, saidOf } from "./said.ts";
import type { Said } from "./said.ts";

/** Where what users say at a platform is said to the service. */
export interface Door {
  /** Resolves when the message is stored. May throw a Refusal. */
  say(slug: string, said: Said): Promise<void>;
  /** Has the user talked in this thread? */
  knows(slug: string, named: { userId: string; threadId: string }): Promise<boolean>;
}

/** A channel's users at a platform: what they say comes in, what enters their threads goes out. */
export interface Messengers {
  /** Answers a request of the platform, once what it brought is stored. Refusal("not-found"): no such channel. */
  receive(slug: string, request: Request): Promise<Response>;
  start(): void;
  /** For the lanes of the outbox. */
  delivery: MessengerDelivery;
  stop(): Promise<void>;
}

export interface MessengerDependencies {
  door: Door;
  channel: (slug: string) => Channel | null;
  channels: () => readonly Channel[];
  variables: Pick<ChannelVariables, "read">;
  /** FILES_MAX_BYTES */
  maxFileBytes: number;
  outbox: OutboxStore;
  store: Pick<Store, "channelThread">;
  threads: Pick<Threads, "followRun" | "history" | "keptText">;
  clock: Clock;
  timers: Timers;
  log: PlainLog;
}

export function createMessengers(dependencies: MessengerDependencies): Messengers {
  const { door, channel, maxFileBytes, log } = dependencies;
  const accounts = createAccounts({ ...dependencies, save });
  const deliver = createDeliver({ ...dependencies, accounts });
  const gateways = createGateways({ ...dependencies, accounts });

  async function save(slug: string, arrived: Arrived): Promise<void> {
    const known = channel(slug);
    const { adapter, threadId, message } = arrived;
    const named = { userId: message.author.userId, threadId };
    const isDirect = adapter.isDM?.(threadId) ?? false;
    const isKnown = !isDirect && message.isMention !== true && (await door.knows(slug, named));
    if (!isForBot(arrived, isKnown)) return;
    const said = await saidOf(arrived, {
      images: known?.agent.images === true,
      fileBytes: known?.agent.files === false ? null : maxFileBytes,
    });
    if (said === null) return;
    try {
      await door.say(slug, said);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Blocked, or not on the whitelist: the platform has nothing to repeat. Invalid: the same id with another text is an edit.
      if (error.reason !== "forbidden" && error.reason !== "invalid") throw error;
      log.info({ channel: slug, reason: error.reason }, "a message of a messenger was not taken");
    }
  }

  return {
    async receive(slug, request) {
      const known = channel(slug);
      const account = known && (await opened(known));
      if (!account) throw new Refusal("not-found");
      const { response, failed } = await account.inbox.receive(account.adapter, request);
      if (failed === null || !response.ok) return response;
      if (failed instanceof Refusal) throw failed;
      log.warn(
        { channel: slug, err: failed },
        "cannot save what a messenger brought: the platform repeats it",
      );
      throw new Refusal("unavailable", "", 1);
    },
    delivery: deliver,
    start: () => gateways.start(),
    async stop() {
      deliver.stop();
      await gateways.stop();
      await accounts.close();
    },
  };

  async function opened(known: Channel) {
    try {
      return await accounts.open(known);
    } catch (error) {
      if (error instanceof AccountFault) throw new Refusal("unavailable", "", 5);
      throw error;
    }
  }
}
