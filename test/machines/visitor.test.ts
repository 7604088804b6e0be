import { expect, it } from "vitest";
import { VISITOR_CHART_VERSION, visitorMachine } from "../../machines/visitor.ts";
import { createHost } from "../../src/actors/host.ts";

const host = createHost<typeof visitorMachine, never>(visitorMachine, VISITOR_CHART_VERSION);

it("V1: a use of the token changes nothing that must be saved", () => {
  expect(host.decide(host.initial(), { type: "token.used" }).changed).toBe(false);
});

it("V2: a visitor is bound to one account, once", () => {
  const bound = host.decide(host.initial(), { type: "visitor.identified", externalId: "ada" }).next;
  expect(bound.value).toEqual({ valid: "identified" });
  expect(bound.context.externalId).toBe("ada");
  expect(host.decide(bound, { type: "visitor.identified", externalId: "bob" }).changed).toBe(false);
});

it("V3: an expired token is of no more use", () => {
  const expired = host.decide(host.initial(), { type: "lifetime.passed" }).next;
  expect(expired.value).toBe("expired");
  expect(host.decide(expired, { type: "visitor.identified", externalId: "ada" }).changed).toBe(false);
});
