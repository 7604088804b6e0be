import { BlockList, isIPv4 } from "node:net";
import { normalAddress } from "./address.ts";

/**
 * Addresses that what strangers and channels name must not reach, so that no URL can point into this network. Of IPv4 all
 * that IANA's registries have for special purposes, and multicast; of IPv6 everything that is not global unicast, and
 * what of that is special: so no form that embeds another address need be known.
 * https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry
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
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // Azure's own server on each of its machines: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  ["168.63.129.16", 32],
] as const) {
  closed.addSubnet(address, bits, "ipv4");
}
for (const [address, bits] of [
  // Benchmarks, ORCHID, Teredo and other protocols; documentation; 6to4; AS112; documentation.
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20],
] as const) {
  closed.addSubnet(address, bits, "ipv6");
}

const globalUnicast = new BlockList();
// https://www.iana.org/assignments/ipv6-address-space: all that was ever given out.
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Also false if it is no address. */
export function isPublicAddress(text: string): boolean {
  const address = normalAddress(text);
  if (address === null) return false;
  if (isIPv4(address)) return !closed.check(address, "ipv4");
  return globalUnicast.check(address, "ipv6") && !closed.check(address, "ipv6");
}

/** The address that a URL contains, in any spelling; null if it names a host. */
export function literalAddress(url: string): string | null {
  // URL has already normalised spellings such as 0x7f.1 to 127.0.0.1.
  return normalAddress(new URL(url).hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** Names that no public name server answers (RFC 6761, 6762, 8375; ICANN for `internal`). */
const LOCAL_NAME = /^[^.]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Does the URL itself say that it leads to a special address? Other names must be looked up to know. */
export function isClosedUrl(url: string): boolean {
  const address = literalAddress(url);
  if (address !== null) return !isPublicAddress(address);
  return LOCAL_NAME.test(new URL(url).hostname.replace(/\.$/, ""));
}

/** The first of these URLs that says so; host names are checked at each delivery. */
export function closedUrl(webhooks: readonly { url: string }[]): string | null {
  return webhooks.find(({ url }) => isClosedUrl(url))?.url ?? null;
}
