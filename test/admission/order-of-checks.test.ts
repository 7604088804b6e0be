// For src/admission/
import { createHash } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { createVisitors } from "../../src/visitors/visitors.ts";
import type { RequestHead } from "../../src/admission/arrival.ts";
import { createDirectory } from "../../src/admission/directory.ts";
import { ForeignOrigin } from "../../src/admission/origin.ts";
import { createServerAdmission } from "../../src/admission/server-admission.ts";
import { createWidgetAdmission } from "../../src/admission/widget-admission.ts";
import { createKeyDoor } from "../../src/admission/key-door.ts";
import { createRateWindows } from "../../src/admission/rate-windows.ts";
import { readConfig } from "../../src/config.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { newVisitorToken } from "../../src/domain/people/visitor-token.ts";
import { Secret } from "../../src/secret.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

/**
 * A request that is wrong in every way is put right one way at a time: what it is refused for moves on through the order
 * of the checks (contract, Order of the checks), one step with each, until it comes in.
 */
const HERE = "https://shop.example";
const ELSEWHERE = "https://other.example";
const TOO_LONG = 1_000_000_000;

async function openAdmission() {
  // Set, so that no window ends in the middle of a test.
  const clock = { now: () => Date.UTC(2026, 10, 21, 12), elapsed: () => performance.now() };
  const log = { warn() {} };
  const config = readConfig({ WIDGET_THREADS_PER_HOUR: "1", WIDGET_VISITORS_PER_HOUR_PER_IP: "1" });
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock });
  const secretKeyHash = createHash("sha256").update("sk_shop").digest("hex");
  const shop = sampleChannel({ allowedOrigins: [HERE], secretKeyHash });
  await store.putChannel(shop);
  await store.putChannel(
    sampleChannel({ slug: "other", publishableKey: "pk_other", allowedOrigins: [ELSEWHERE] }),
  );
  await store.blockIp("192.0.2.66");
  const directory = createDirectory({ store, log });
  await directory.start();
  onTestFinished(async () => {
    directory.stop();
    await store.close();
  });
  const visitors = createVisitors({ store, clock, ttlMs: config.visitorTtlMs });
  const windows = createRateWindows({ limits: config.limits, clock });
  const noted: Record<string, string>[] = [];
  return {
    store,
    shop,
    directory,
    visitors,
    windows,
    noted,
    note: (ids: Record<string, string>) => void noted.push(ids),
    widget: createWidgetAdmission({ config, directory, visitors, windows, log }),
    server: createServerAdmission({
      config,
      transportKeys: [new Secret("one-key")],
      keyDoor: createKeyDoor({ config, clock, log }),
      directory,
      store,
      clock,
    }),
  };
}

function head(changes: {
  headers?: Record<string, string>;
  contentLength?: number;
  address?: string;
}): RequestHead {
  const { headers = {}, contentLength = 0, address = "192.0.2.1" } = changes;
  return { method: "POST", headers: new Map(Object.entries(headers)), contentLength, address };
}

/** Why something was refused; "in" if it was not. */
async function outcomeOf(admitted: () => unknown): Promise<string> {
  try {
    await admitted();
    return "in";
  } catch (error) {
    if (error instanceof ForeignOrigin) return "foreign";
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

test("a visitor: origin, length, address, token, the channel's origin, the visitor, the rate", async () => {
  const { store, visitors, widget, note, noted } = await openAdmission();
  const { visitorToken, userId } = await visitors.mint("shop");
  const blocked = await visitors.mint("shop");
  await store.flagUser("shop", blocked.userId, { blocked: true });
  const enter = (headers: Record<string, string>, contentLength: number, address: string) =>
    outcomeOf(() =>
      widget
        .visitor({ request: head({ headers, contentLength, address }), note })
        .admit({ counts: ["threads-by-token"], threadName: null }),
    );
  const withToken = (origin: string, token: string) => ({ origin, "x-visitor-token": token });

  expect([
    await enter(withToken("https://nobody.example", "no token"), TOO_LONG, "192.0.2.66"),
    await enter(withToken(ELSEWHERE, "no token"), TOO_LONG, "192.0.2.66"),
    await enter(withToken(ELSEWHERE, "no token"), 0, "192.0.2.66"),
    await enter(withToken(ELSEWHERE, "no token"), 0, "192.0.2.1"),
    await enter(withToken(ELSEWHERE, newVisitorToken("shop")), 0, "192.0.2.1"),
    await enter(withToken(ELSEWHERE, blocked.visitorToken), 0, "192.0.2.1"),
    await enter(withToken(HERE, blocked.visitorToken), 0, "192.0.2.1"),
    await enter(withToken(HERE, visitorToken), 0, "192.0.2.1"),
    await enter(withToken(HERE, visitorToken), 0, "192.0.2.1"),
  ]).toEqual([
    "forbidden",
    "too-large",
    "forbidden",
    "unauthorized",
    "unauthorized",
    "foreign",
    "forbidden",
    "in",
    "rate-limited",
  ]);
  // The log is told who it is before the checks that know it, and of nobody before.
  expect(noted).toEqual([
    { slug: "shop", userId: blocked.userId },
    { slug: "shop", userId: blocked.userId },
    { slug: "shop", userId },
    { slug: "shop", userId },
  ]);
});

test("a visitor who is refused uses up no rate", async () => {
  const { store, visitors, widget, note } = await openAdmission();
  const { visitorToken } = await visitors.mint("shop");
  const blocked = await visitors.mint("shop");
  await store.flagUser("shop", blocked.userId, { blocked: true });
  const enter = (token: string) => {
    const request = head({ headers: { origin: HERE, "x-visitor-token": token } });
    const use = { counts: ["visitors-by-address" as const], threadName: null };
    return outcomeOf(() => widget.visitor({ request, note }).admit(use));
  };
  expect([
    await enter(blocked.visitorToken),
    await enter(visitorToken),
    await enter(visitorToken),
    await enter(blocked.visitorToken),
  ]).toEqual(["forbidden", "in", "rate-limited", "forbidden"]);
});

test("whose a token is is asked again: an account's since, or nobody's any more", async () => {
  const { visitors, directory, windows, server, note } = await openAdmission();
  const ada = { slug: "shop", externalId: "ada", displayName: null, thread: null };
  const { user: account } = await server.user({ note }, ada);
  const { visitorToken } = await visitors.mint("shop");
  let isGone = false;
  const leaving = {
    admit: (...use: Parameters<typeof visitors.admit>) =>
      isGone ? Promise.resolve(null) : visitors.admit(...use),
    renamedThreads: (...asked: Parameters<typeof visitors.renamedThreads>) =>
      visitors.renamedThreads(...asked),
  };
  const config = readConfig({});
  const enterBy = (lookup: Pick<typeof directory, "channel">) =>
    createWidgetAdmission({
      config,
      directory: { ...directory, ...lookup },
      windows,
      log: { warn() {} },
      visitors: leaving,
    })
      .visitor({ request: head({ headers: { origin: HERE, "x-visitor-token": visitorToken } }), note })
      .admit({ counts: [], threadName: null });

  const { user, userNow } = await enterBy(directory);
  expect(await userNow()).toEqual(user);
  await visitors.identify({ slug: "shop", visitorToken, externalId: "ada" });
  expect(await userNow()).toMatchObject({ userId: account.userId, externalId: "ada" });
  isGone = true;
  expect(await outcomeOf(userNow)).toBe("unauthorized");
  isGone = false;
  expect(await outcomeOf(() => enterBy({ channel: () => null }))).toBe("unauthorized");
});

test("a page: origin, length, address, key, the channel's origin, the channel, the rate", async () => {
  const { store, shop, directory, widget, note } = await openAdmission();
  const enter = (headers: Record<string, string>, contentLength = 0, address = "192.0.2.1") =>
    outcomeOf(() => widget.page({ request: head({ headers, contentLength, address }), note }));
  const withKey = (origin: string, key: string) => ({ origin, "x-publishable-key": key });

  const outcomes = [
    await enter(withKey("https://nobody.example", "pk_none"), TOO_LONG, "192.0.2.66"),
    await enter(withKey(ELSEWHERE, "pk_none"), TOO_LONG, "192.0.2.66"),
    await enter(withKey(ELSEWHERE, "pk_none"), 0, "192.0.2.66"),
    await enter(withKey(ELSEWHERE, "pk_none")),
  ];
  await store.putChannel({ ...shop, enabled: false });
  await directory.renew();
  outcomes.push(await enter(withKey(ELSEWHERE, "pk_shop")), await enter(withKey(HERE, "pk_shop")));
  await store.putChannel(shop);
  await directory.renew();
  outcomes.push(await enter(withKey(HERE, "pk_shop")), await enter(withKey(HERE, "pk_shop")));
  expect(outcomes).toEqual([
    "forbidden",
    "too-large",
    "forbidden",
    "unauthorized",
    "foreign",
    "forbidden",
    "in",
    "rate-limited",
  ]);
});

test("the server API: length, then the slug where there is one, then the key; then the channel and the user", async () => {
  const { store, shop, directory, server, note } = await openAdmission();
  const key = (value: string) => ({ authorization: `Bearer ${value}` });
  const transport = (headers: Record<string, string>, contentLength = 0) =>
    outcomeOf(() => server.transport(head({ headers, contentLength })));
  expect([
    await transport(key("another"), TOO_LONG),
    await transport(key("another")),
    await transport({}),
    await transport(key("one-key")),
  ]).toEqual(["too-large", "unauthorized", "unauthorized", "in"]);

  const backend = (slug: string, headers: Record<string, string>, contentLength = 0) =>
    outcomeOf(() => server.backend({ request: head({ headers, contentLength }), note }, slug));
  expect([
    await backend("nowhere", key("one-key"), TOO_LONG),
    await backend("nowhere", key("one-key")),
    await backend("shop", key("one-key")),
    await backend("shop", key("sk_shop")),
  ]).toEqual(["too-large", "not-found", "unauthorized", "in"]);

  // Its key may stand in the store, but a transport channel has no backend.
  await store.putChannel({ ...shop, slug: "bot", kind: "transport", publishableKey: null });
  await directory.renew();
  expect(await backend("bot", key("sk_shop"))).toBe("unauthorized");

  const arrival = { request: head({}), note };
  const ada = { externalId: "ada", displayName: null, thread: null };
  const speak = (slug: string) => outcomeOf(() => server.speaker(arrival, { ...ada, slug }));
  const outcomes = [await speak("nowhere"), await speak("shop")];
  const { user } = await server.user(arrival, { ...ada, slug: "shop" });
  await store.flagUser("shop", user.userId, { blocked: true });
  outcomes.push(await speak("shop"));
  expect(outcomes).toEqual(["not-found", "in", "forbidden"]);
  expect((await server.user(arrival, { ...ada, slug: "shop" })).mayTalk).toBe(false);
});

test("a user's thread is found and never made", async () => {
  const { server, note } = await openAdmission();
  const arrival = { request: head({}), note };
  const named = { slug: "shop", externalId: "ada", threadId: "t1" };
  expect(await server.threadOf(arrival, named)).toBeNull();
  const thread = { name: "t1", newUid: "uid-1" };
  await server.user(arrival, { slug: "shop", externalId: "ada", displayName: null, thread });
  expect(await server.threadOf(arrival, named)).toBe("uid-1");
  expect(await server.threadOf(arrival, { ...named, threadId: "t2" })).toBeNull();
  expect(await outcomeOf(() => server.threadOf(arrival, { ...named, slug: "nowhere" }))).toBe("not-found");
});
