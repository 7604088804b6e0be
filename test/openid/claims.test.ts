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
  expect(grantedBy(values)).toEqual(granted);
});

test.each([
  [{}, "roles", null],
  [{ roles: "admin staff" }, "roles", ["admin", "staff"]],
  [{ roles: ["admin", 3, null] }, "roles", ["admin"]],
  [{ roles: { admin: true } }, "roles", []],
  [{ "https://chat.example/roles": ["agent"] }, "https://chat.example/roles", ["agent"]],
  [{ resource_access: { console: { roles: ["agent"] } } }, "resource_access.console.roles", ["agent"]],
  [{ realm_access: ["admin"] }, "realm_access.roles", null],
  [{}, "constructor.name", null],
  [{ roles: "" }, "roles", []],
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
