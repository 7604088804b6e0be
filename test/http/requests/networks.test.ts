// For src/admission/
import { expect, test } from "vitest";
import { startService } from "../service.ts";

test("a /48 makes ten times the visitors of a /64, and no more; another one and IPv4 are not concerned", async () => {
  const { post } = await startService({ WIDGET_VISITORS_PER_HOUR_PER_IP: "2" });
  const visit = async (address: string) => {
    const headers = { "x-publishable-key": "pk_shop" };
    return (await post("/v1/widget/visitors", "", { headers, address })).status;
  };
  const from = async (addresses: string[]) => Promise.all(addresses.map(visit));
  const site = Array.from({ length: 12 }, (_, nth) => `2001:db8:7:${nth + 1}::1`);
  const twice = site.slice(0, 10).flatMap((address) => [address, address]);
  expect(await from(twice)).toEqual(Array(20).fill(201));
  expect(await from(site.slice(10))).toEqual([429, 429]);
  expect(await from(["2001:db8:8:1::1", "192.0.2.1", "192.0.2.2"])).toEqual([201, 201, 201]);
});

test("WIDGET_IPV6_NETWORK_FACTOR says how many times", async () => {
  const settings = { WIDGET_VISITORS_PER_HOUR_PER_IP: "1", WIDGET_IPV6_NETWORK_FACTOR: "2" };
  const { post } = await startService(settings);
  const statuses = [];
  for (const group of ["1", "2", "3"]) {
    const headers = { "x-publishable-key": "pk_shop" };
    const got = await post("/v1/widget/visitors", "", { headers, address: `2001:db8:7:${group}::1` });
    statuses.push(got.status);
  }
  expect(statuses).toEqual([201, 201, 429]);
});
