// For src/domain/people/user.ts
import { expect, test } from "vitest";
import { mayTalk } from "../../src/domain/people/user.ts";

test.each([
  [true, "open", false, false, true],
  [true, "open", false, true, true],
  [true, "open", true, true, false],
  [true, "whitelist", false, false, false],
  [true, "whitelist", false, true, true],
  [true, "whitelist", true, true, false],
  [false, "open", false, true, false],
  [false, "whitelist", false, true, false],
] as const)(
  "enabled %s, %s mode, blocked %s, whitelisted %s: may talk %s",
  (enabled, accessMode, blocked, whitelisted, may) => {
    expect(mayTalk({ enabled, accessMode }, { blocked, whitelisted })).toBe(may);
  },
);
