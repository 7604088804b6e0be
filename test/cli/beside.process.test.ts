// For src/cli/command/, src/installation/open-store-data.ts
import { existsSync, readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockAddress } from "../../src/stores/engines/lmdb/data-dir-lock.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { sendMessage, TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { runCommand } from "../support/terminal.ts";

/** A service on the embedded store, whose console and operator API are off; commands run in another process, this one. */
async function served() {
  const env = { DATA_DIR: temporaryFolder(), HARNESS_API_KEY: TEST_KEY, CONSOLE: "off" };
  const service = await startServiceProcess(env);
  const run = (...args: string[]) => runCommand(env, args);
  const json = async (...args: string[]) => {
    const { code, out, err } = await run(...args, "--json");
    expect([code, err]).toEqual([0, ""]);
    return JSON.parse(out) as unknown;
  };
  const say = (threadId: string, text = "Hi") => sendMessage(service.url, { threadId, userId: "ada", text });
  return { env, service, run, json, say, keyFile: join(env.DATA_DIR, "command-line.key") };
}

describe("commands beside a service that has the embedded store", () => {
  test("P1: ask it, and nothing is lost of what both change at once", async () => {
    const { run, json, say } = await served();
    const names = Array.from({ length: 12 }, (_, nth) => `t${nth}`);
    const [said, ran] = await Promise.all([
      Promise.all(names.map((name) => say(name))),
      Promise.all(names.map((_, nth) => run("ips", "block", `192.0.2.${nth}`))),
    ]);
    expect(new Set(said.map(({ lines }) => lines.at(-1)?.type))).toEqual(new Set(["done"]));
    expect(new Set(ran.map(({ code }) => code))).toEqual(new Set([0]));
    expect(await json("ips", "list")).toHaveLength(12);
    const threads = (await json("threads", "list", "cli", "ada")) as { id: string; threadId: string }[];
    expect(threads.map(({ threadId }) => threadId).toSorted()).toEqual(names.toSorted());
    expect(await json("threads", "show", "cli", "t3", "--user", "ada")).toMatchObject({
      threadId: "t3",
      messages: [{ role: "user", content: "Hi" }, { role: "assistant" }],
      runs: [{ outcome: "done" }],
    });
  });

  test("change what it does at once, in the words of the command line", async () => {
    const { run, json, say } = await served();
    await say("t1");
    expect(await json("users", "block", "cli", "ada")).toMatchObject({ blocked: true });
    expect((await say("t1")).status).toBe(403);
    expect(await run("users", "show", "cli", "eve")).toEqual({
      code: 1,
      out: "",
      err: "Cannot find user eve: channel cli has none of that id\n",
    });
    expect(await run("users", "delete", "cli", "ada")).toMatchObject({ code: 0 });
    // Who was blocked begins anew.
    expect((await say("t1")).status).toBe(200);
    const exported = await run("users", "export", "cli", "ada");
    expect(exported.out.trimEnd().split("\n")).toHaveLength(5);
  });

  test("count, check and back up all that it has, and restore it elsewhere", async () => {
    const { env, run, json, say } = await served();
    for (const name of ["a", "b", "c"]) await say(name, "a text of the backup");
    expect(await json("store", "info")).toMatchObject({ instances: 1, users: 1, threads: 3, messages: 6 });
    expect((await run("store", "check", "--repair")).out).toBe("Everything fits together\n");
    const file = join(temporaryFolder(), "backup");
    expect(await json("store", "backup", file)).toMatchObject({ users: 1, threads: 3, messages: 6 });
    expect(await json("store", "deletions", `${file}.deletions`)).toMatchObject({ deletions: 0 });
    expect(await run("store", "restore", file)).toMatchObject({ code: 1, out: "" });
    const elsewhere = { ...env, DATA_DIR: temporaryFolder() };
    expect(await runCommand(elsewhere, ["store", "restore", file])).toMatchObject({ code: 0 });
    expect((await runCommand(elsewhere, ["threads", "list", "cli", "ada", "--json"])).out).toBe(
      (await run("threads", "list", "cli", "ada", "--json")).out,
    );
    expect(await run("store", "compact")).toMatchObject({
      code: 1,
      err: `Cannot compact the store: Cannot lock ${env.DATA_DIR}: another process serves it\n`,
    });
  });

  test("take the store themselves when it was killed", async () => {
    const { service, run, say, keyFile } = await served();
    await say("t1");
    service.kill("SIGKILL");
    await service.exit;
    expect(existsSync(keyFile)).toBe(true);
    expect((await run("users", "show", "cli", "ada")).code).toBe(0);
  });
});

describe("the key of the command line", () => {
  function status(env: { DATA_DIR: string }, path: string, authorization?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = authorization === undefined ? {} : { authorization };
      request({ socketPath: lockAddress(env.DATA_DIR), path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .once("error", reject)
        .end();
    });
  }

  test("is its owner's alone, opens what no other key opens, and goes with the service", async () => {
    const { env, service, keyFile } = await served();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const key = readFileSync(keyFile, "utf8").trim();
    const paths = ["/v1/operator/channels", "/engine"];
    for (const path of paths) {
      expect(await status(env, path)).toBe(401);
      expect(await status(env, path, `Bearer ${TEST_KEY}`)).toBe(401);
      expect(await status(env, path, `Bearer ${key}x`)).toBe(401);
    }
    expect(await status(env, "/v1/operator/channels", `Bearer ${key}`)).toBe(200);
    expect((await fetch(`${service.url}/v1/operator/channels`)).status).toBe(404);
    service.kill("SIGTERM");
    expect(await service.exit).toBe(0);
    expect(existsSync(keyFile)).toBe(false);
    expect([...service.output.stdout, service.output.stderr].join("\n")).not.toContain(key);
  });
});
