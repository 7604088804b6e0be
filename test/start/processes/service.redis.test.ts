// For src/start/processes/
import { once } from "node:events";
import { existsSync } from "node:fs";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { emptyFolder, temporaryFolder } from "../../support/stores/data-dir.ts";
import { describeDefaultListener, describeEachListener } from "../../support/servers/each-listener.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { hold, say, startModelServer } from "../../support/servers/model-server.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { TEST_KEY } from "../../support/servers/service.ts";
import { spawnCommand, startServiceProcess } from "../../support/servers/service-process.ts";
import type { ServiceProcess } from "../../support/servers/service-process.ts";
import { valueOf } from "../../metrics/sample.ts";
import { openStream } from "../../service-wide/clients/open-stream.ts";
import type { OpenStream } from "../../service-wide/clients/open-stream.ts";
import { pidsOf } from "../../service-wide/clients/reached.ts";

/** `PROCESSES_TESTS=full`: on each listener, and to the end of what retires. */
const isFull = process.env["PROCESSES_TESTS"] === "full";
const listeners = isFull ? describeEachListener : describeDefaultListener;

/** What waits here is released, however slow this machine is. */
const UNHURRIED = {
  MODEL_TIMEOUT_SECONDS: "1000",
  RUN_TIMEOUT_SECONDS: "1000",
  SHUTDOWN_GRACE_SECONDS: "1000",
  // What retires waits until no connection can be open that it did not tell of its end.
  KEEP_ALIVE_SECONDS: "5",
};

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const settings = () => ({
  PROCESSES: "2",
  REDIS_URL: redis.url,
  HARNESS_API_KEY: TEST_KEY,
  DATA_DIR: emptyFolder(),
  DEMO: "off",
});

listeners("two processes on one port", (listener) => {
  /** Its model stops in the middle of each turn until `finishTurns`. */
  async function start(): Promise<ServiceProcess & { finishTurns: () => void; holdTurns: () => void }> {
    let isHeld = true;
    const model = await startModelServer(() => [say("Hel"), ...(isHeld ? [hold()] : []), say("lo")]);
    onTestFinished(() => model.close());
    const service = await startServiceProcess({
      ...settings(),
      LISTENER: listener,
      PORT: String(await freePort()),
      OPENAI_API_KEY: "sk-model",
      OPENAI_BASE_URL: model.baseUrl,
      ...UNHURRIED,
    });
    let finished = 0;
    return {
      ...service,
      holdTurns: () => void (isHeld = true),
      // A run that was taken up has asked twice: its turns are more than the streams are.
      finishTurns: () => {
        isHeld = false;
        model.release(model.requests.length - finished);
        finished = model.requests.length;
      },
    };
  }

  test("one log, one count, and one that is killed is replaced, with nothing uncounted that was told", async () => {
    const service = await startServiceProcess({ ...settings(), LISTENER: listener });
    let spoken = 0;
    async function speak(): Promise<void> {
      await sayTo(service.url);
      spoken++;
    }
    const counted = async () => (await countedBy(service.url)).messages;

    const first = pidsOf(service.output.stdout);
    expect(first).toHaveLength(2);
    await expect.poll(async () => (await speak(), answeredBy(service).size)).toBe(2);
    await expect.poll(counted).toBe(spoken);
    expect((await countedBy(service.url)).heap).toBeGreaterThan(0);
    // Whoever is asked, it is the same.
    for (let asked = 0; asked < 5; asked++) expect(await counted()).toBe(spoken);

    process.kill(first[0] ?? 0, "SIGKILL");
    await expect.poll(() => linesOf(service).filter(listensWithOthers)).toHaveLength(3);
    expect(await counted()).toBe(spoken);
    expect((await fetch(`${service.url}/health`)).status).toBe(200);
    await expect.poll(async () => (await speak(), answeredBy(service).size)).toBe(3);
    await expect.poll(counted).toBe(spoken);
  });

  // It is waited for as long as the supervisor waits: 15 seconds.
  test("one that hangs is killed and replaced, and whoever reads from it hears of that", async () => {
    const service = await start();
    const streams = await Promise.all([1, 2, 3, 4].map((nth) => openReply(service.url, nth)));
    for (const stream of streams) await stream.has("delta");
    const [hung = 0] = pidsOf(service.output.stdout);
    process.kill(hung, "SIGSTOP");
    const ended = Promise.allSettled(streams.map((stream) => stream.end()));

    await expect.poll(() => linesOf(service).filter(listensWithOthers)).toHaveLength(3);
    service.finishTurns();
    await ended;
    for (let said = 0; said < 4; said++) await sayTo(service.url);
  });

  test("they have their port alone: a second service exits 1, with several processes or with one", async () => {
    const PORT = String(await freePort());
    await startServiceProcess({ ...settings(), LISTENER: listener, PORT });
    for (const more of [settings(), { DATA_DIR: temporaryFolder() }]) {
      const second = spawnCommand(["serve"], { ...more, LISTENER: listener, PORT });
      expect(await second.exit).toBe(1);
      expect(second.output.stderr).toMatch(new RegExp(`^Cannot listen on 127.0.0.1:${PORT}: [^\\n]+\\n$`));
    }
  });

  test("SIGHUP: new processes take the places of the old, SIGTERM: all end, and no stream is cut", async () => {
    const service = await start();
    const open = (nth: number) => openReply(service.url, nth);
    const told = (text: string) => linesOf(service).filter(({ msg }) => msg.startsWith(text)).length;
    const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
    const old = pidsOf(service.output.stdout).filter(isAlive);
    const early = await Promise.all([1, 2, 3, 4].map(open));
    for (const stream of early) await stream.has("delta");

    service.kill("SIGHUP");
    await expect.poll(() => told("Retiring")).toBe(2);
    const late = await Promise.all([5, 6, 7].map(open));
    for (const stream of late) await stream.has("delta");
    // Who retires still writes.
    expect(old.filter(isAlive)).toHaveLength(2);
    service.finishTurns();
    for (const stream of [...early, ...late]) await endsWhole(stream, service);
    // They wait for kept connections to close, 12 seconds: too long for every time.
    if (isFull) await expect.poll(() => old.filter(isAlive)).toEqual([]);

    service.holdTurns();
    const last = await open(8);
    await last.has("delta");
    service.kill("SIGTERM");
    await expect.poll(() => told("Stopping")).toBeGreaterThanOrEqual(3);
    service.finishTurns();
    await endsWhole(last, service);
    expect(await service.exit).toBe(0);
    expect(pidsOf(service.output.stdout).filter(isAlive)).toEqual([]);
  });
});

test("the demo's page and METRICS_PORT are there once, whoever answers", async () => {
  const METRICS_PORT = String(await freePort());
  const { DEMO: _off, ...more } = settings();
  const service = await startServiceProcess({ ...more, METRICS_PORT });
  const { output, url, demoUrl } = service;
  await expect.poll(() => output.stderr).toContain("curl");
  expect(output.stderr.match(/Demo page/g)).toHaveLength(1);
  for (let asked = 0; asked < 4; asked++) {
    expect(await (await fetch(demoUrl)).text()).toContain("data-sign-in");
    expect(await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text()).toContain("process_cpu");
  }
  await sayTo(url);
  service.kill("SIGINT");
  expect(await service.exit).toBe(0);
});

test("a start that cannot be exits 1 with one line", async () => {
  const channels = spawnCommand(["serve"], { ...settings(), PORT: "0", CHANNELS_FILE: "/nowhere.json" });
  expect(await channels.exit).toBe(1);
  expect(channels.output.stderr).toMatch(/^Cannot read CHANNELS_FILE [^\n]+\n$/);

  const embedded = spawnCommand(["serve"], { PORT: "0", DATA_DIR: temporaryFolder(), PROCESSES: "auto" });
  expect(await embedded.exit).toBe(1);
  expect(embedded.output.stderr).toMatch(
    /^Cannot read the configuration: PROCESSES is "auto", [^\n]+REDIS_URL[^\n]+\n$/,
  );
  expect(embedded.output.stdout).toEqual([]);
});

interface LogLine {
  msg: string;
  process?: number;
  runId?: string;
  route?: string;
}

function linesOf({ output }: ServiceProcess): LogLine[] {
  return output.stdout.map((line) => JSON.parse(line) as LogLine);
}

function openReply(url: string, nth: number): Promise<OpenStream> {
  return openStream(url, {
    method: "POST",
    path: "/v1/messages",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ threadId: `t${nth}`, userId: "u", text: "Hi" }),
  });
}

function listensWithOthers({ msg }: LogLine): boolean {
  return msg === "Listening with the others";
}

/**
 * Whole as the model wrote it. A process that gets no core for a second and a half is taken for dead, and its runs are
 * taken up by others: such a stream ends all the same, with a line that says how.
 */
async function endsWhole(stream: OpenStream, service: ServiceProcess): Promise<void> {
  const types = (await stream.end()).map(({ type }) => type);
  if (isDeepStrictEqual(types, ["delta", "delta", "done"])) return;
  const takenUp = () => linesOf(service).filter(({ msg }) => msg.startsWith("took up a run"));
  await expect.poll(() => takenUp().map(({ runId }) => runId)).toContain(stream.headers["x-run-id"]);
  expect(["done", "error"]).toContain(types.at(-1));
}

/** The numbers of the processes that have answered a message. */
function answeredBy(service: ServiceProcess): Set<number | undefined> {
  const answered = linesOf(service).filter(({ route }) => route === "/v1/messages");
  return new Set(answered.map(({ process: number }) => number));
}

/** On a connection of its own. */
async function sayTo(url: string): Promise<void> {
  const sent = request(`${url}/v1/messages`, {
    method: "POST",
    agent: new Agent({ keepAlive: false }),
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
  });
  sent.end(JSON.stringify({ threadId: "t", userId: "ada", text: "Hello" }));
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  answer.resume();
  await once(answer, "end");
}

async function countedBy(url: string): Promise<{ messages: number | null; heap: number | null }> {
  const sent = request(`${url}/metrics`, {
    agent: new Agent({ keepAlive: false }),
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const piece of answer) text += String(piece);
  return {
    messages: await valueOf(text, 'chat_agent_request_seconds_count{route="/v1/messages",status="200"}'),
    heap: await valueOf(text, "nodejs_heap_size_used_bytes"),
  };
}
