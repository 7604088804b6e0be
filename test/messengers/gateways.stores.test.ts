// For src/messengers/gateways.ts
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { systemClock, systemTimers } from "../../src/clock.ts";
import type { Accounts } from "../../src/messengers/accounts.ts";
import { createGateways } from "../../src/messengers/gateways.ts";
import type { OutboxStore } from "../../src/store.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { transportChannel } from "./transport-channel.ts";

const WAIT = { timeout: 20_000, interval: 20 };
const settings = { botToken: "t", publicKey: "k", applicationId: "a" };

describe.each(storeKinds)("the gateway of a channel on the $name store", ({ name, prepare }) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await prepare();
  });
  afterAll(() => database.remove());

  it("is listened to by one process at a time, and by another one when that one stops", async () => {
    const log: string[] = [];
    const first = await started("first", log);
    await expect.poll(() => log, WAIT).toEqual(["first begins"]);
    // The embedded store is of one process.
    const second =
      name === "embedded" ? await started("second", log, first.outbox) : await started("second", log);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(log).toEqual(name === "embedded" ? ["first begins", "second begins"] : ["first begins"]);
    await first.gateways.stop();
    await expect.poll(() => log, WAIT).toContain("second begins");
    expect(log).toContain("first ends");
    await second.gateways.stop();
    expect(log).toContain("second ends");
  });

  it("is opened anew when the account's settings change", async () => {
    const log: string[] = [];
    const { gateways, another } = await started("it", log);
    await expect.poll(() => log, WAIT).toEqual(["it begins"]);
    another();
    await expect.poll(() => log, WAIT).toEqual(["it begins", "it ends", "it begins"]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(log).toHaveLength(3);
    await gateways.stop();
  });

  async function started(who: string, log: string[], known?: OutboxStore) {
    let outbox = known;
    if (!outbox) {
      const store = await database.open();
      onTestFinished(() => store.close());
      outbox = store.outbox;
    }
    if (!outbox) throw new Error("Cannot test: the store has no outbox");
    const adapter = {
      startGatewayListener(
        options: { waitUntil: (task: Promise<unknown>) => void },
        _ms: number,
        signal: AbortSignal,
      ) {
        log.push(`${who} begins`);
        options.waitUntil(
          new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => {
              log.push(`${who} ends`);
              resolve();
            }),
          ),
        );
        return Promise.resolve(new Response());
      },
    };
    let account = { adapter };
    const accounts = { open: () => Promise.resolve(account) } as unknown as Pick<Accounts, "open">;
    const gateways = createGateways({
      accounts,
      channels: () => [transportChannel("dc", { type: "discord", settings })],
      outbox,
      clock: systemClock,
      timers: systemTimers,
      log: { info() {}, warn() {}, error() {} },
    });
    gateways.start();
    return { gateways, outbox, another: () => (account = { adapter }) };
  }
});
