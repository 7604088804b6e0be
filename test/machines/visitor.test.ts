// For machines/visitor.ts
import { expect, it } from "vitest";
import { visitorHost as host } from "../../src/charts/charts.ts";

it("V1: a use of the token changes nothing that must be saved", () => {
  expect(host.decide(host.initial(), { type: "token.used" }).changed).toBe(false);
});

it("V2: a visitor is bound to one account, once", () => {
  const bound = host.decide(host.initial(), { type: "visitor.identified", externalId: "ada" }).next;
  expect(bound.value).toEqual({ valid: "identified" });
  expect(bound.context.externalId).toBe("ada");
  expect(host.decide(bound, { type: "visitor.identified", externalId: "bob" }).changed).toBe(false);
});
