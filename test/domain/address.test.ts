// For src/domain/address.ts
import { expect, test } from "vitest";
import { normalAddress } from "../../src/domain/address.ts";

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["0000:0000:0000:0000:0000:ffff:7f00:0001", "127.0.0.1"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["2001:0db8:0000:0000:0001:0000:0000:0001", "2001:db8::1:0:0:1"],
  ["0000:0000:0000:0000:0000:0000:0000:0001", "::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["", null],
  ["localhost", null],
])("P18: the address %s is %s", (text, normal) => {
  expect(normalAddress(text)).toBe(normal);
});
