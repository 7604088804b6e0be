// For src/openid/
import { expect, test } from "vitest";
import { claimedRoles, grantedBy, nameIn } from "../../src/openid/claims.ts";

test.each([
  [[], null],
  [["staff", "Admin", "administrator", "agent:"], null],
  [["auditor"], { role: "auditor", channels: null }],
  [["auditor", "agent"], { role: "agent", channels: null }],
  [["agent", "agent:shop"], { role: "agent", channels: null }],
  [["agent:shop", "agent:cli", "agent:shop"], { role: "agent", channels: ["cli", "shop"] }],
  // The mightiest role counts where it is given, and nothing is added from a lesser one.
  [["auditor", "admin:shop"], { role: "admin", channels: ["shop"] }],
])("%o grants %o", (values, granted) => {
  expect(grantedBy(values, null)).toEqual(granted);
});

test.each([
  [["admin"], null],
  [["Shop admins"], { role: "admin", channels: null }],
  [["Support", "staff"], { role: "agent", channels: ["cli", "shop"] }],
  [["support"], null],
])("A3: of a mapping %o grants %o", (values, granted) => {
  const mapped = [
    { value: "Shop admins", role: "admin" },
    { value: "Support", role: "agent:shop" },
    { value: "Support", role: "agent:cli" },
  ];
  expect(grantedBy(values, mapped)).toEqual(granted);
});

test.each([
  [{}, "roles", null],
  // Names of groups have spaces and commas (A3, O1, O2).
  [{ roles: "Shop admin" }, "roles", ["Shop admin"]],
  [{ roles: "helpdesk,admin" }, "roles", ["helpdesk,admin"]],
  [{ roles: ["admin", 3, null] }, "roles", ["admin"]],
  [{ roles: { admin: true } }, "roles", []],
  [{ "https://chat.example/roles": ["agent"] }, "https://chat.example/roles", ["agent"]],
  [{ resource_access: { console: { roles: ["agent"] } } }, "resource_access.console.roles", ["agent"]],
  [{ realm_access: ["admin"] }, "realm_access.roles", null],
  [{}, "constructor.name", null],
  [{ roles: "" }, "roles", [""]],
])("of %o the claim %s says %o", (claims, claim, roles) => {
  expect(claimedRoles(claims, claim)).toEqual(roles);
});

test.each([
  [{ sub: "s-1", preferred_username: "ada", email: "ada@example.com" }, "ada"],
  [{ sub: "s-1", email: "ada@example.com" }, "ada@example.com"],
  // No operator may be called so.
  [{ sub: "s-1", preferred_username: "command line" }, "s-1"],
  [{ sub: "s-1", preferred_username: "a/b", name: "Ada L" }, "Ada L"],
  [{ sub: "a/b" }, "somebody"],
])("%o is called %s", (claims, name) => {
  expect(nameIn(claims)).toBe(name);
});
