// For src/cli/operators.ts
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { createLocalOperator } from "../../src/installation/local-operator.ts";
import { readKeysFile, withLocalOperator } from "../../src/installation/keys-file.ts";
import { hashKey } from "../../src/keys.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel, sampleCommit, sampleMessage, sampleRun } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

let dataDir: string;
beforeEach(async () => {
  dataDir = temporaryFolder();
  // A command works on a store that is there.
  await onStore(async (store) => {
    for (const slug of ["site", "a", "b"])
      await store.putChannel(sampleChannel({ slug, publishableKey: `pk_${slug}` }));
  });
});

const run = (...args: string[]) => runCommand({ DATA_DIR: dataDir }, ["operators", ...args]);

async function runJson(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run(...args, "--json");
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out);
}

async function onStore<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const hashes = () =>
  onStore(async (store) =>
    Object.fromEntries((await store.operators()).map(({ name, keyHash }) => [name, keyHash])),
  );

describe("chat-agent operators", () => {
  test("add prints the key this once, and keeps its hash", async () => {
    const made = (await runJson("add", "Zoë Ångström", "--role", "agent", "--channel", "site")) as {
      key: string;
    };
    expect(made).toEqual({
      name: "Zoë Ångström",
      role: "agent",
      channels: ["site"],
      key: expect.stringMatching(/^op_[\w-]{43}$/) as unknown,
    });
    expect(await hashes()).toEqual({ "Zoë Ångström": hashKey(new Secret(made.key)) });
    expect(await runJson("list")).toEqual([{ name: "Zoë Ångström", role: "agent", channels: ["site"] }]);
    expect((await run("list")).out).not.toContain("op_");
    expect(readFileSync(join(dataDir, "store", "data.mdb")).includes(made.key)).toBe(false);
  });

  test("an operator without --channel is limited to none; a channel that is named twice counts once", async () => {
    await run("add", "ada", "--role", "admin");
    await run("add", "bob", "--role", "auditor", "--channel", "a", "--channel", "b", "--channel", "a");
    expect(await runJson("list")).toEqual([
      { name: "ada", role: "admin", channels: null },
      { name: "bob", role: "auditor", channels: ["a", "b"] },
    ]);
    expect((await run("list")).out).toMatch(/ada +admin +all\nbob +auditor +a b\n/);
  });

  test("a second one of a name is none", async () => {
    await run("add", "ada", "--role", "admin");
    const before = await hashes();
    const { code, err, out } = await run("add", "ada", "--role", "auditor");
    expect({ code, err, out }).toEqual({
      code: 1,
      err: "Cannot add operator ada: there is one of that name\n",
      out: "",
    });
    expect(await hashes()).toEqual(before);
  });

  test("A5: nor one that looks like it", async () => {
    await run("add", "ada", "--role", "admin");
    const { code, err } = await run("add", "Ada", "--role", "auditor");
    expect([code, err]).toEqual([1, "Cannot add operator Ada: there is ada, which looks like it\n"]);
  });

  test("E1: one of a channel that is not there would see nothing", async () => {
    const { code, err, out } = await run("add", "ada", "--role", "admin", "--channel", "nowhere");
    expect([code, err, out]).toEqual([1, "Cannot add operator ada: there is no channel nowhere\n", ""]);
    expect(await hashes()).toEqual({});
  });

  test("rotate makes another key, remove takes the operator away", async () => {
    await run("add", "ada", "--role", "admin", "--channel", "site");
    const before = await hashes();
    const rotated = (await runJson("rotate", "ada")) as { key: string };
    expect(rotated).toMatchObject({ name: "ada", role: "admin", channels: ["site"] });
    const after = await hashes();
    expect(after).toEqual({ ada: hashKey(new Secret(rotated.key)) });
    expect(after).not.toEqual(before);
    expect((await run("remove", "ada")).code).toBe(0);
    expect(await runJson("list")).toEqual([]);
    expect((await run("remove", "ada")).code).toBe(1);
    expect((await run("rotate", "ada")).code).toBe(1);
  });

  test.each([
    [["add", "ada"], "--role"],
    [["add", "ada", "--role", "king"], "Allowed choices are admin, agent, auditor"],
    [["add", "", "--role", "admin"], "1 to 64 characters"],
    [["add", "a/b", "--role", "admin"], "no slash"],
    [["add", " ada", "--role", "admin"], "no space at either end"],
    [["add", "a\u202eb", "--role", "admin"], "no control characters"],
    [["add", "Command Line", "--role", "admin"], "what the audit calls somebody else"],
    [["add", "ada", "--role", "admin", "--channel", "Shop"], "1 to 64 of a-z 0-9 - _"],
  ])("%j exits 2 and says what is wrong", async (args, complaint) => {
    const { code, err, out } = await run(...args);
    expect(code).toBe(2);
    expect(err).toContain(complaint);
    expect(out).toBe("");
  });

  test("each change is in the audit, by the command line, without a key", async () => {
    const { key } = (await runJson("add", "ada", "--role", "admin")) as { key: string };
    await run("rotate", "ada");
    await run("remove", "ada");
    await run("remove", "ada");
    const { items } = await onStore((store) => store.audit({ limit: 10, after: null, sinceMs: 0 }));
    expect(items.map(({ entry: { operator, action, target } }) => [operator, action, target])).toEqual([
      ["command line", "operators.remove", "ada"],
      ["command line", "operators.rotate", "ada"],
      ["command line", "operators.add", "ada"],
    ]);
    expect(JSON.stringify(items)).not.toContain(key.slice(3));
  });
});

describe("the audit of the command line", () => {
  const command = (...args: string[]) => runCommand({ DATA_DIR: dataDir }, args);

  test("has every change, and every reading of what was said, before it is printed", async () => {
    await onStore(async (store) => {
      await store.putChannel(
        sampleChannel({ slug: "cli", kind: "transport", publishableKey: null, agent: {} }),
      );
      const caller = { slug: "cli", externalId: "kim", displayName: "Kim", newUserId: "u-kim", atMs: 1 };
      await store.admitUser({ ...caller, thread: { name: "t", newUid: "t-1" }, creates: true });
      const run = sampleRun("r1", { userId: "u-kim", outcome: "done" });
      const said = { uid: "t-1", slug: "cli", state: "idle", holds: false, run } as const;
      await store.commit(sampleCommit({ opId: "o", fence: "p:1", ...said, messages: [sampleMessage(1)] }));
    });
    for (const args of [
      ["channels", "create", "shop", "--kind", "web"],
      ["channels", "update", "shop", "--model", "m", "--access-mode", "whitelist"],
      ["channels", "disable", "shop"],
      ["channels", "enable", "shop"],
      ["channels", "rotate-keys", "shop"],
      ["users", "list", "cli"],
      ["users", "show", "cli", "kim"],
      ["users", "block", "cli", "kim"],
      ["users", "unwhitelist", "cli", "kim"],
      ["ips", "block", "192.0.2.1"],
      ["ips", "unblock", "192.0.2.1"],
      ["threads", "list", "cli", "kim"],
      ["threads", "show", "cli", "t-1"],
      ["machines", "cli", "t-1"],
    ]) {
      expect(await command(...args)).toMatchObject({ code: 0, err: "" });
    }
    const { items } = await onStore((store) => store.audit({ limit: 100, after: null, sinceMs: 0 }));
    const told = items.map(({ entry: { operator, action, target, slug, detail } }) => [
      operator,
      action,
      target,
      slug,
      ...(detail ? [detail] : []),
    ]);
    const by = "command line";
    expect(told.toReversed()).toEqual([
      [by, "channels.create", "shop", "shop"],
      [by, "channels.update", "shop", "shop", { fields: ["accessMode", "agent"] }],
      [by, "channels.disable", "shop", "shop", { fields: ["enabled"] }],
      [by, "channels.enable", "shop", "shop", { fields: ["enabled"] }],
      [by, "channels.rotate-keys", "shop", "shop"],
      [by, "users.block", "u-kim", "cli"],
      [by, "users.unwhitelist", "u-kim", "cli"],
      [by, "ips.block", "192.0.2.1", null],
      [by, "ips.unblock", "192.0.2.1", null],
      [by, "thread.read", "t-1", "cli"],
      [by, "thread.read", "t-1", "cli"],
    ]);
  });
});

describe("the operator of a start without CHANNELS_FILE", () => {
  test("is made once, and keeps its key in keys.json", async () => {
    const { localOperator: key } = withLocalOperator(dataDir);
    await onStore((store) => createLocalOperator(store, key));
    expect(withLocalOperator(dataDir).localOperator.reveal()).toBe(key.reveal());
    expect(await hashes()).toEqual({ local: hashKey(key) });
    await onStore((store) => createLocalOperator(store, new Secret("op_another")));
    expect(await hashes()).toEqual({ local: hashKey(key) });
    expect(await runJson("list")).toEqual([{ name: "local", role: "admin", channels: null }]);
  });

  test("rotate keeps its new key for the next start", async () => {
    const { localOperator: key } = withLocalOperator(dataDir);
    await onStore((store) => createLocalOperator(store, key));
    const rotated = (await runJson("rotate", "local")) as { key: string };
    expect(readKeysFile(dataDir)?.localOperator?.reveal()).toBe(rotated.key);
  });
});
