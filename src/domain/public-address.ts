import { BlockList, isIPv4 } from "node:net";
import { normalAddress } from "./address.ts";

/**
 * Addresses that webhooks must not reach, so that a receiver's URL cannot point into this network: loopback, private,
 * link-local (where clouds serve secrets), shared, benchmark, multicast, reserved; and IPv6 addresses that lead to these.
 */
const closed = new BlockList();
for (const [address, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  closed.addSubnet(address, bits, "ipv4");
}
for (const [address, bits] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  closed.addSubnet(address, bits, "ipv6");
}

/** Also false if it is no address. */
export function isPublicAddress(text: string): boolean {
  const address = normalAddress(text);
  return address !== null && !closed.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/** The address that a URL contains, in any spelling; null if it names a host. */
export function literalAddress(url: string): string | null {
  // URL has already normalised spellings such as 0x7f.1 to 127.0.0.1.
  return normalAddress(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** The first of these URLs that contains a forbidden address; host names are checked at each delivery. */
export function closedUrl(webhooks: readonly { url: string }[]): string | null {
  const found = webhooks.find(({ url }) => {
    const address = literalAddress(url);
    const isLocal = /^(.*\.)?localhost\.?$/.test(new URL(url).hostname);
    return isLocal || (address !== null && !isPublicAddress(address));
  });
  return found?.url ?? null;
}
