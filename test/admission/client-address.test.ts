// For src/admission/client-address.ts, src/admission/blocked-addresses.ts, src/admission/forwarded.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockedBy } from "../../src/admission/blocked-addresses.ts";
import { addressReader, clientAddress, countedAs, networkOf } from "../../src/admission/client-address.ts";
import { normalAddress } from "../../src/domain/address.ts";

const SOCKET = "203.0.113.9";

function address(source: string, hops: number, headers: Record<string, string>): string {
  const request = { headers: new Map(Object.entries(headers)), address: SOCKET };
  return clientAddress(request, { clientIpSource: source, trustedProxyHops: hops }).address;
}

describe("the client's address (P23)", () => {
  test.each<[string, string, number, Record<string, string>, string]>([
    ["source socket", "socket", 1, { "x-forwarded-for": "192.0.2.1" }, SOCKET],
    ["one hop", "x-forwarded-for", 1, { "x-forwarded-for": "192.0.2.1" }, "192.0.2.1"],
    ["one hop, forged left", "x-forwarded-for", 1, { "x-forwarded-for": "6.6.6.6, 192.0.2.1" }, "192.0.2.1"],
    ["two hops", "x-forwarded-for", 2, { "x-forwarded-for": "6.6.6.6, 192.0.2.1, 10.0.0.1" }, "192.0.2.1"],
    ["too few", "x-forwarded-for", 2, { "x-forwarded-for": "192.0.2.1" }, SOCKET],
    ["empty", "x-forwarded-for", 1, { "x-forwarded-for": "" }, SOCKET],
    ["spaces", "x-forwarded-for", 1, { "x-forwarded-for": "  " }, SOCKET],
    ["trailing comma", "x-forwarded-for", 1, { "x-forwarded-for": "192.0.2.1," }, SOCKET],
    ["a port", "x-forwarded-for", 1, { "x-forwarded-for": "1.2.3.4:5678" }, "1.2.3.4"],
    ["brackets and port", "x-forwarded-for", 1, { "x-forwarded-for": "[2001:db8::1]:443" }, "2001:db8::1"],
    ["quotes", "x-forwarded-for", 1, { "x-forwarded-for": '"1.2.3.4"' }, "1.2.3.4"],
    ["unknown", "x-forwarded-for", 1, { "x-forwarded-for": "unknown" }, SOCKET],
    ["obfuscated", "x-forwarded-for", 1, { "x-forwarded-for": "_obf" }, SOCKET],
    ["garbage", "x-forwarded-for", 1, { "x-forwarded-for": "9".repeat(2048) }, SOCKET],
    ["mapped", "x-forwarded-for", 1, { "x-forwarded-for": "::ffff:1.2.3.4" }, "1.2.3.4"],
    ["other headers", "x-forwarded-for", 1, { "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6" }, SOCKET],
    ["x-real-ip", "x-real-ip", 3, { "x-real-ip": "192.0.2.1" }, "192.0.2.1"],
  ])("%s", (_row, source, hops, headers, expected) => {
    expect(address(source, hops, headers)).toBe(expected);
  });

  const SIX = 'for="[2001:db8::1]:443";proto=https';
  test.each<[string, number, string, string]>([
    ["an IPv6 with a port", 1, SIX, "2001:db8::1"],
    ["an IPv4", 1, "for=192.0.2.43", "192.0.2.43"],
    ["an IPv4 with a port", 1, 'for="192.0.2.43:47011"', "192.0.2.43"],
    ["names in any case, in any place", 1, "Proto=http;FOR=192.0.2.43 ; by=203.0.113.43", "192.0.2.43"],
    ["the last of several", 1, "for=6.6.6.6, for=192.0.2.1", "192.0.2.1"],
    ["hops over the elements of all lines", 2, `for=6.6.6.6, ${SIX}, for=10.0.0.1`, "2001:db8::1"],
    ["an open quote that a client wrote", 1, 'for="6.6.6.6, for=192.0.2.1', "192.0.2.1"],
    ["an odd host that a proxy quoted", 2, `${SIX};host="a\\", for=6.6.6.6", for=10.0.0.1`, "2001:db8::1"],
    ["a comma and a semicolon in quotes", 1, 'host="a,b;for=6.6.6.6";for=192.0.2.1', "192.0.2.1"],
    ["too few", 2, "for=192.0.2.1", SOCKET],
    ["an unknown client", 1, "for=unknown", SOCKET],
    ["an obfuscated client", 1, "for=_hidden", SOCKET],
    ["no client", 1, "proto=https;by=203.0.113.43", SOCKET],
    ["two clients in one element", 1, "for=6.6.6.6;for=192.0.2.1", SOCKET],
    ["nothing", 1, "", SOCKET],
    ["a trailing comma", 1, "for=192.0.2.1,", SOCKET],
  ])("N2: RFC 7239: %s", (_row, hops, forwarded, expected) => {
    expect(address("forwarded", hops, { forwarded })).toBe(expected);
  });

  test("N2, P23: what a client writes into forwarded itself never matters", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.ipV6(), fc.ipV4(), (forged, client, proxy) => {
        const lines = [...forged, `for="[${client}]:443";proto=https`, `for=${proxy}`].join(", ");
        expect(address("forwarded", 2, { forwarded: lines })).toBe(normalAddress(client));
      }),
    );
  });

  test("says where the trusted place held no address", () => {
    const request = { headers: new Map([["x-forwarded-for", "nobody"]]), address: SOCKET };
    const source = { clientIpSource: "x-forwarded-for", trustedProxyHops: 1 };
    expect(clientAddress(request, source)).toEqual({ address: SOCKET, distrusted: true });
  });

  test("warns once of a header that is not to be trusted, and of no other", () => {
    const warnings: unknown[] = [];
    const log = { warn: (fields: unknown) => void warnings.push(fields) };
    const source = { clientIpSource: "x-forwarded-for", trustedProxyHops: 1 };
    // A service has one for each of its doors.
    const reads = [addressReader(source, log), addressReader(source, log)];
    const from = (header: string, [read] = reads) =>
      read?.({ headers: new Map([["x-forwarded-for", header]]), address: SOCKET });
    expect(from("192.0.2.1")).toBe("192.0.2.1");
    expect(warnings).toEqual([]);
    expect([from("nobody"), from("nobody"), from("nobody", reads.slice(1))]).toEqual(Array(3).fill(SOCKET));
    expect(warnings).toEqual([{ header: "x-forwarded-for" }]);
  });

  test("P23: what a client writes itself never matters, however much it is", () => {
    const hop = fc.ipV4();
    fc.assert(
      fc.property(fc.array(fc.string()), hop, hop, (forged, client, proxy) => {
        const lines = [...forged, client, proxy].join(", ");
        expect(address("x-forwarded-for", 2, { "x-forwarded-for": lines })).toBe(client);
      }),
    );
  });

  test("every spelling of an address is one, and a whole /64 counts as one", () => {
    expect(
      ["2001:DB8::1", "2001:0db8:0:0:0:0:0:1", "2001:db8:0:0::1", "2001:db8::0.0.0.1"].map(normalAddress),
    ).toEqual(Array(4).fill("2001:db8::1"));
    expect(normalAddress("::ffff:102:304")).toBe("1.2.3.4");
    expect(normalAddress("fe80::1%eth0")).toBe("fe80::1");
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 4, maxLength: 4 }), fc.ipV6(), (network, host) => {
        const prefix = network.map((part) => part.toString(16)).join(":");
        const last = normalAddress(`${prefix}:${host.includes(".") ? "1:2:3:4" : "a:0:0:b"}`) ?? "";
        expect(countedAs(last)).toBe(prefix);
      }),
    );
    expect(countedAs("1.2.3.4")).toBe("1.2.3.4");
    expect([countedAs("::1"), countedAs("2001:db8::"), countedAs("::")]).toEqual([
      "0:0:0:0",
      "2001:db8:0:0",
      "0:0:0:0",
    ]);
  });
});

test("an IPv6 is in a network of its first 48 bits, an IPv4 in none", () => {
  expect(networkOf("2001:db8:7:1::2")).toBe("2001:db8:7");
  expect([networkOf("::1"), networkOf("2001:db8::"), networkOf("1.2.3.4")]).toEqual([
    "0:0:0",
    "2001:db8:0",
    null,
  ]);
});

test("blocked are single addresses and ranges, in any spelling; what is neither blocks nobody", () => {
  const isBlocked = blockedBy([
    "192.0.2.7",
    "198.51.100.0/24",
    "2001:DB8:0::/48",
    "::ffff:203.0.113.0/120",
    "nonsense",
    "1.2.3.4/99",
  ]);
  const asked = ["192.0.2.7", "198.51.100.255", "2001:db8:0:5::1", "203.0.113.200"];
  expect(asked.map(isBlocked)).toEqual([true, true, true, true]);
  expect(["192.0.2.8", "198.51.101.0", "2001:db8:1::1", "1.2.3.4", "nonsense"].map(isBlocked)).toEqual(
    Array(5).fill(false),
  );
});

test("a range of no bits is everybody of its kind; one of fewer is nonsense, and blocks nobody", () => {
  const isBlocked = blockedBy(["0.0.0.0/0"]);
  expect(["1.2.3.4", "255.255.255.255", "2001:db8::1"].map(isBlocked)).toEqual([true, true, false]);
  const none = blockedBy(["192.0.2.0/-1", "::ffff:192.0.2.0/64", "192.0.2.0/1.5", "192.0.2.0/x"]);
  expect(none("192.0.2.1")).toBe(false);
});
