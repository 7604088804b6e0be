import { afterAll, beforeAll, describe } from "vitest";
import { openHouse } from "../scenarios/houses.ts";
import type { House, Site } from "../scenarios/houses.ts";
import { itIsLinearizable } from "./at-once.ts";
import { identifyRows } from "./rows.ts";
import { echoOrCall } from "./script.ts";
import { itFollowsTheReference } from "./sequences.ts";

/** Everything that identify and access promise over HTTP, on one kind of store, and `more` that only this one promises. */
export function describeIdentity(site: Site, more: (open: () => House) => void = () => {}): void {
  describe(`identity on ${site.name}`, () => {
    let house: House;
    const current = () => house;
    beforeAll(async () => {
      house = await openHouse(site, echoOrCall);
    });
    afterAll(() => house.close());

    identifyRows(current);
    itIsLinearizable(current, 30);
    itFollowsTheReference(current, 15);
    more(current);
  });
}
