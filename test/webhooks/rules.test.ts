// For src/webhooks/due-after.ts, src/webhooks/telling-store.ts, src/domain/public-address.ts
import { describe, expect, it, test } from "vitest";
import { closedUrl, isPublicAddress } from "../../src/domain/public-address.ts";
import { channelFieldsSchema } from "../../src/domain/channels/channel-fields.ts";
import { endpointOf, tellingsOf } from "../../src/domain/threads/tellings.ts";
import { mustTell, parseChannels } from "../../src/installation/channels-file.ts";
import { Secret } from "../../src/secret.ts";
import { dueAfter } from "../../src/webhooks/due-after.ts";
import { SECRET } from "./receiver.ts";

describe("isPublicAddress()", () => {
  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "no address",
  ])("is false of %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    // What leads to 127.0.0.1 by translation: SIIT (RFC 2765), the compatible form, NAT64 (RFC 6052), 6to4, Teredo.
    "::ffff:0:127.0.0.1",
    "::ffff:0:7f00:1",
    "::127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::1",
    "2001:0:7f00:1::1",
    // A cloud's own server in the public range.
    "168.63.129.16",
    "::ffff:168.63.129.16",
    // Of the registries of special addresses.
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.175.48.1",
    "198.51.100.1",
    "203.0.113.1",
    "255.255.255.255",
    "100::1",
    "100:0:0:1::1",
    "2001:2::1",
    "2001:20::1",
    "2001:30::1",
    "2001:db8::1",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "fec0::1",
    // Assigned to nobody.
    "4000::1",
    "1::1",
  ])("A6: is false of %s", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it("A6: is false of every IPv6 address outside of 2000::/3", () => {
    for (let first = 0; first < 0x10000; first++) {
      if (first >> 13 === 1) continue;
      expect(isPublicAddress(`${first.toString(16)}::7f00:1`)).toBe(false);
    }
  });

  it.each([
    "93.184.216.34",
    "8.8.8.8",
    "2a00:1450:4001:829::200e",
    "172.32.0.1",
    "2606:2800:220:1:248:1893:25c8:1946",
  ])("is true of %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

test.each([
  "http://127.0.0.1/x",
  "http://0x7f.1/x",
  "http://2130706433/x",
  "http://[::1]:8080/",
  "http://[::ffff:127.0.0.1]/",
  "http://localhost:3000/",
  "http://a.localhost./",
  "http://[::ffff:0:127.0.0.1]/",
  "http://168.63.129.16/",
  "http://intranet/",
  "http://metadata.google.internal/",
  "http://printer.local:631/",
  "http://nas.home.arpa/",
])("closedUrl() finds %s", (url) => {
  expect(closedUrl([{ url: "https://example.com/" }, { url }])).toBe(url);
});

test("closedUrl() lets names and public addresses pass", () => {
  expect(closedUrl([{ url: "https://example.com/" }, { url: "http://93.184.216.34/" }])).toBeNull();
});

describe("dueAfter()", () => {
  const at = (attempts: number, random: number, nowMs = 0) =>
    dueAfter({ attempts, happenedAtMs: 0, nowMs, random: () => random });

  it("waits longer after each failure", () => {
    const seconds = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 43_200, 43_200];
    expect(seconds.map((_, i) => at(i + 1, 0.5))).toEqual(seconds.map((one) => one * 1_000));
  });

  it("spreads by a fifth to both sides", () => {
    expect(at(1, 0)).toBe(4_000);
    expect(at(1, 1)).toBe(6_000);
  });

  it("gives up three days after the event", () => {
    const day = 86_400_000;
    expect(at(9, 0.5, 2.4 * day)).not.toBeNull();
    expect(at(9, 0.5, 2.6 * day)).toBeNull();
  });
});

describe("tellingsOf()", () => {
  const event = (id: string, type: "run.ended" | "message.created") => ({ id, type, atMs: 1, data: {} });

  it("leaves out what nobody hears of", () => {
    const webhooks = [{ url: "https://a.example", secret: SECRET, events: ["run.ended" as const] }];
    const events = [event("1", "message.created"), event("2", "run.ended")];
    expect(tellingsOf(webhooks, events)).toEqual([{ event: events[1], endpoints: webhooks.map(endpointOf) }]);
  });
});

describe("a channel's webhooks", () => {
  const parse = (webhooks: unknown) => channelFieldsSchema.safeParse({ slug: "shop", webhooks }).success;

  it.each([
    [[{ url: "https://a.example", secret: SECRET }], true],
    [[{ url: "https://a.example", secret: "$NAME", events: ["run.ended"] }], true],
    [[{ url: "ftp://a.example", secret: SECRET }], false],
    [[{ url: "https://a.example", secret: "secret" }], false],
    [[{ url: "https://a.example", secret: SECRET, events: ["run.began"] }], false],
    [
      [
        { url: "https://a.example", secret: SECRET },
        { url: "https://a.example", secret: "$OTHER" },
      ],
      false,
    ],
  ])("are checked: %j", (webhooks, isGood) => {
    expect(parse(webhooks)).toBe(isGood);
  });

  const written = (url: string, secret = SECRET) =>
    parseChannels(
      JSON.stringify({ channels: [{ slug: "shop", kind: "transport", webhooks: [{ url, secret }] }] }),
      () => null,
    );

  it("refuse a literal private address at the start, unless it is allowed", () => {
    const file = written("http://10.0.0.1/x");
    const variable = () => null;
    expect(() => mustTell(file, { webhooksPrivate: false, variable })).toThrow(/no public address/);
    expect(() => mustTell(file, { webhooksPrivate: true, variable })).not.toThrow();
  });

  it("refuse a variable that holds no secret at the start", () => {
    const file = written("https://a.example", "$HOOK");
    const start = (value: Secret | null) => mustTell(file, { webhooksPrivate: false, variable: () => value });
    expect(() => start(null)).toThrow(/HOOK, which is unset/);
    expect(() => start(new Secret("no"))).toThrow(/HOOK, which must be whsec_/);
    expect(() => start(new Secret(SECRET))).not.toThrow();
  });
});
